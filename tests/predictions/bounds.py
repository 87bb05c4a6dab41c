"""The bounds of the scoreboard, and the groups of cases that must keep them: the table at the top of docs/predictions.md.

A group is one lab's measurements of one kind on one GPU. Its median error is at most 20 % if no curve was fitted on the device, and at most 12 %
on the left-out cases of other devices. A band must hold for eight of ten cases: in a group of 20 or more, at most 20 % plus two
standard deviations of a binomial draw are outside, 0.2 n + 2 · sqrt(0.16 n). An honest band exceeds that in two of a hundred groups.
"""
import math
import statistics

MEDIAN = {False: 20, True: 12}  # %; key: whether a curve was fitted on the device
OUTSIDE, LEAST = 0.2, 20  # share outside the band; the smallest group that is judged by it


class Group:
    """`errors`: |error| in %. `outside`: number of cases outside the band."""

    def __init__(self, part, name, fitted, errors, outside):
        self.part, self.name, self.fitted, self.errors, self.outside = part, name, fitted, errors, outside

    @property
    def median(self):
        return statistics.median(self.errors)

    @property
    def keeps_median(self):
        return self.median <= MEDIAN[self.fitted]

    @property
    def keeps_band(self):
        n = len(self.errors)
        return n < LEAST or self.outside <= OUTSIDE * n + 2 * math.sqrt(OUTSIDE * (1 - OUTSIDE) * n)

    def marked(self, decimals=1):
        """(median, share outside in %); a missed bound is bold."""
        return tuple(text if is_kept else f"**{text}**" for text, is_kept in
                     ((f"{self.median:.{decimals}f}", self.keeps_median), (f"{100 * self.outside / len(self.errors):.0f}", self.keeps_band)))


def of_cases(part, name, fitted, its):
    """A group of cases, each with its error in % and whether it is inside the band."""
    return Group(part, name, fitted, [abs(c.error) for c in its], sum(not c.inside for c in its))


def table(groups):
    text = ["## The bounds", "",
            "| bound | of | cases | all together % | groups that keep it | the others |", "|---|---|--:|--:|--:|---|"]
    promises = [(f"median error at most {MEDIAN[False]} % where nothing was fitted on the device", lambda g: not g.fitted, True),
                (f"median error at most {MEDIAN[True]} % on the other devices, in cases that the fit left out", lambda g: g.fitted, True),
                (f"at most {100 * OUTSIDE:.0f} % outside the band", lambda g: True, False)]
    for promise, is_of, of_medians in promises:
        for part in dict.fromkeys(g.part for g in groups if is_of(g)):
            its = [g for g in groups if g.part == part and is_of(g)]
            errors = [e for g in its for e in g.errors]
            together = statistics.median(errors) if of_medians else 100 * sum(g.outside for g in its) / len(errors)
            judged = [g for g in its if of_medians or len(g.errors) >= LEAST]
            missed = [g for g in judged if not (g.keeps_median if of_medians else g.keeps_band)]
            names = "; ".join(f"{g.name} {g.marked()[0 if of_medians else 1].strip('*')}" for g in missed)
            text.append(f"| {promise} | {part} | {len(errors)} | {together:.{1 if of_medians else 0}f} | {len(judged) - len(missed)} of {len(judged)} | {names} |")
    return [*text, "",
            "A group is one lab's measurements of one kind on one GPU. The tables below have missed bounds in bold. In a group of *n* ≥ 20 cases 0.2 · *n* + 2 · sqrt(0.16 · *n*) may be",
            "outside a band of 80 %: two standard deviations of chance, which an honest band exceeds in two of a hundred groups."]
