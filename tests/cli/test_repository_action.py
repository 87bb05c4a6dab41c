"""Integration into a repository: the action's script, annotations, summary and comment on a pull request from a fork,
and the hook."""
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import unittest

from support import MODELS, SOURCE, TMETER, CliTest

SCRIPT = SOURCE / ".github" / "budget.sh"
BUDGET = '[[budget]]\nmodel = "net.pt2"\nassert = ["params <= 4M"]\nreport = "net.json"\nslack = "1%"\n'

TOOLS = pathlib.Path(os.environ["BUILD"]) / "tools"


def program(name, install):
    """The program in PATH, else one that is installed once into the build folder. Skips the test if neither is available."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:{TOOLS}/bin")
    if found:
        return found
    if not (TOOLS / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", TOOLS], capture_output=True, check=False)
    installer = f"{TOOLS}/bin/{install[0]}" if install[0] == "pip" else shutil.which(install[0])
    if not installer:
        raise unittest.SkipTest(f"needs {name}, or {install[0]} to install it")
    environment = {**os.environ, "GOBIN": f"{TOOLS}/bin", "GOPATH": f"{TOOLS}/go", "GOFLAGS": "-modcacherw"}
    try:
        done = subprocess.run([installer, *install[1:]], capture_output=True, text=True, env=environment, timeout=200)
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise unittest.SkipTest(f"{name} cannot be installed: {failed}")
    if done.returncode:
        raise unittest.SkipTest(f"{name} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    return f"{TOOLS}/bin/{name}"


class RepositoryTest(CliTest):
    def setUp(self):
        super().setUp()
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        (self.programs / "tmeter").symlink_to(pathlib.Path(TMETER).resolve())
        self.environment = {
            **os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "TMETER_PLUGIN_PATH": "",
            "XDG_DATA_HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}

    def sh(self, line, cwd, status=0, **env):
        done = subprocess.run(["bash", "-euc", line], cwd=cwd, env={**self.environment, **env}, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, f"{line}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_a_pull_request_of_a_fork(self):
        base, fork = self.folder / "base", self.folder / "fork"
        base.mkdir()
        shutil.copy(MODELS / "gpt2_like.pt2", base / "net.pt2")
        (base / "tmeter.toml").write_text(BUDGET)
        # 3,448,320 parameters, 1 % of slack: 3.4828… M.
        self.sh("git init -q -b main && tmeter budget --update && git add -A && git commit -qm first", base)
        self.assertIn("params <= 3.483M", (base / "tmeter.toml").read_text())
        self.sh(f"git clone -q {base} {fork}", self.folder)
        shutil.copy(MODELS / "vit_b_16.pt2", fork / "net.pt2")
        self.sh("git commit -qam larger", fork)
        summary, comment = self.folder / "summary.md", self.folder / "comment"
        # Without a token and a network: the script has only the checkout.
        output = self.sh(str(SCRIPT), fork, status=3, GITHUB_STEP_SUMMARY=str(summary), COMMENT=str(comment))
        annotation = next(line for line in output.splitlines() if line.startswith("::"))
        self.assertRegex(annotation, r"^::error file=tmeter\.toml,line=1,title=net\.pt2::params <= 3\.483M: params is 86\.57 M; moved most: encoder.layers.encoder_layer_0.mlp.0 \+2.362 M, ")
        self.assertIn("### tmeter: over budget", summary.read_text())
        self.assertIn("| ❌ | net.pt2 | params &#60;= 3.483M |", summary.read_text())
        self.assertEqual((comment / "comment.md").read_text(), summary.read_text())
        self.assertEqual((comment / "status").read_text(), "3\n")
        summary.unlink()
        self.sh(str(SCRIPT), base, GITHUB_STEP_SUMMARY=str(summary))
        self.assertIn("### tmeter: within budget", summary.read_text())

    def test_from_nothing_to_a_failing_budget_in_eight_lines(self):
        repository, configuration = self.folder / "new", pathlib.Path(f"{self.folder}/.pre-commit-config.yaml")
        configuration.write_text("repos: [{repo: https://github.com/OWNER/tmeter, rev: v1.0.0, hooks: [{id: tmeter-budget}]}]\n")
        hook = next(line.split(": ", 1)[1] for line in (SOURCE / ".pre-commit-hooks.yaml").read_text().splitlines() if "entry:" in line)
        lines = f"""git init -q -b main new && cd new
cp {MODELS / "gpt2_like.pt2"} net.pt2
printf '[[budget]]\\nmodel = "net.pt2"\\nassert = ["params <= 3.5M"]\\n' >tmeter.toml
cp {configuration} . && mkdir -p .github/workflows && cp {SOURCE}/.github/workflows/budget.yml .github/workflows/
printf '#!/bin/sh\\nexec {hook}\\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
git add -A && git commit -qm first
cp {MODELS / "vit_b_16.pt2"} net.pt2
git commit -qam larger 2>&1"""
        self.assertEqual(lines.count("\n"), 7)
        output = self.sh(lines, self.folder, status=1)
        # 86,567,656 parameters: torchvision's published count for vit_b_16.
        self.assertIn("FAIL  net.pt2  params <= 3.5M  (params is 86.57 M)", output)
        self.assertEqual(self.sh("git log --format=%s", repository), "first\n")

    def comment(self, pulls):
        """The steps of the workflow that posts comments, with a `gh` that returns these pull requests and records its calls."""
        workflow = (SOURCE / ".github" / "workflows" / "budget-comment.yml").read_text()
        script = textwrap.dedent(workflow.split("run: |\n", 1)[1])
        program = self.programs / "gh"
        program.write_text(f"#!/bin/sh\nprintf '%s|' \"$@\" >>calls; echo >>calls\ncase \"$*\" in *pulls*) echo '{pulls}';; esac\n")
        program.chmod(0o755)
        (self.folder / "comment.md").write_text("### tmeter: over budget\n")
        self.sh(script, self.folder, REPOSITORY="base/repository", HEAD="0123abc", BRANCH="fork$(touch x):a b", GH_TOKEN="x")
        self.assertFalse((self.folder / "x").exists())
        return (self.folder / "calls").read_text().splitlines()

    def test_the_comment_goes_to_the_pull_request_of_the_fork(self):
        request, posted = self.comment("17")
        self.assertIn("|repos/base/repository/pulls|-f|state=open|-f|head=fork$(touch x):a b|", request)
        self.assertIn('select(.head.sha == "0123abc")', request)
        self.assertIn("pr|comment|17|--repo|base/repository|--body-file|body.md|", posted)
        self.assertEqual((self.folder / "body.md").read_text(), "### tmeter: over budget\n")

    def test_without_a_pull_request_nothing_is_posted(self):
        self.assertEqual(len(self.comment("")), 1)

    def test_names_cannot_write_commands_or_markup(self):
        """The author of a pull request chooses a model's name."""
        shutil.copy(MODELS / "lstm.pt2", self.folder / "a%0A::warning,b:<img src=x>|`@all`.pt2")
        (self.folder / "tmeter.toml").write_text(
            '[[budget]]\nmodel = "a%0A::warning,b:<img src=x>|`@all`.pt2"\nassert = ["params <= 1"]\n')
        summary = self.folder / "summary.md"
        output = self.sh(str(SCRIPT), self.folder, status=3, GITHUB_STEP_SUMMARY=str(summary))
        commands = [line for line in output.splitlines() if line.startswith("::")]
        self.assertEqual(len(commands), 1)
        self.assertIn("title=a%250A%3A%3Awarning%2Cb%3A<img src=x>|`@all`.pt2::params", commands[0])
        row = summary.read_text().splitlines()[-1]
        self.assertEqual((row.count("|"), row.count("<"), row.count("`"), row.count("@")), (5, 0, 0, 0), row)

    def test_an_unreadable_budget_file(self):
        (self.folder / "tmeter.toml").write_text("[[budget")
        summary = self.folder / "summary.md"
        self.sh(str(SCRIPT), self.folder, status=2, GITHUB_STEP_SUMMARY=str(summary))
        self.assertIn("could not be checked (status 2)", summary.read_text())

    def test_the_workflows_and_the_action_by_actionlint(self):
        actionlint = program("actionlint", ["go", "install", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"])
        workflows = self.folder / ".github" / "workflows"
        shutil.copytree(SOURCE / ".github" / "workflows", workflows)
        shutil.copy(SOURCE / "action.yml", self.folder)
        use = workflows / "use.yml"
        use.write_text("name: use\non: push\njobs:\n  action:\n    runs-on: ubuntu-22.04\n    steps:\n"
                       "      - uses: ./\n        with: {config: a, requirement: b, comment: c}\n"
                       "  workflow:\n    uses: ./.github/workflows/budget.yml\n    with: {config: a, requirement: b, action: c/d}\n")
        self.sh("git init -q", self.folder)
        self.assertEqual(self.sh(f"{actionlint} -no-color 2>&1", self.folder), "")
        use.write_text(use.read_text().replace("comment: c", "comments: c"))
        self.assertIn('input "comments" is not defined', self.sh(f"{actionlint} -no-color 2>&1", self.folder, status=1))

    def test_the_hook(self):
        pre_commit = program("pre-commit", ["pip", "install", "-q", "--disable-pip-version-check", "pre-commit==4.7.0"])
        shutil.copy(MODELS / "lstm.pt2", self.folder / "net.pt2")
        (self.folder / "tmeter.toml").write_text('[[budget]]\nmodel = "net.pt2"\nassert = ["params <= 1"]\n')
        self.sh("git init -q && git add tmeter.toml net.pt2", self.folder)
        output = self.sh(f"{pre_commit} try-repo {SOURCE} tmeter-budget --all-files || true", self.folder, PRE_COMMIT_HOME=str(self.folder / "c"))
        self.assertIn("FAIL  net.pt2  params <= 1", output)


if __name__ == "__main__":
    unittest.main()
