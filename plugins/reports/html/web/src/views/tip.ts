// Tooltips: the text of the data-tip attribute of the element under the pointer or with the focus. Escape closes.

const margin = 8;

export function showTips(page: Document): void {
  const tip = page.createElement("div");
  tip.id = "tmeter-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  let owner: Element | undefined;

  const hide = () => {
    owner?.removeAttribute("aria-describedby");
    owner = undefined;
    tip.hidden = true;
  };
  const show = (event: Event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (target === owner) return;
    hide();
    const text = target?.getAttribute("data-tip");
    if (!target || !text) return;
    owner = target;
    tip.textContent = text;
    tip.hidden = false;
    (target.closest("main, .top, .cards-box") ?? page.body).append(tip);  // in the landmark of its subject
    target.setAttribute("aria-describedby", tip.id);
    place(tip, target.getBoundingClientRect());
  };
  page.addEventListener("pointerover", show);
  page.addEventListener("focusin", show);
  page.addEventListener("focusout", hide);
  page.addEventListener("scroll", hide, true);
  page.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

function place(tip: HTMLElement, at: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.max(margin, Math.min(at.left, innerWidth - width - margin));
  const below = at.bottom + 6;
  const top = below + height > innerHeight - margin && at.top > height + margin ? at.top - height - 6 : below;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}
