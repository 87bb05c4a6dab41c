// A drawing of the page as a file: the page's styles become attributes of the drawing.

const styles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "font-size", "font-weight", "font-family", "text-anchor"];
const ofPage = ["class", "style", "tabindex", "role", "data-tip", "aria-label"];

export function drawingOf(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [{ width, height }, own, copies] = [svg.viewBox.baseVal, svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  own.forEach((element, i) => {
    const style = getComputedStyle(element), target = copies[i]!;
    for (const name of ofPage) target.removeAttribute(name);
    for (const name of styles) if (!["path", "rect"].includes(element.tagName) || !name.startsWith("font")) target.setAttribute(name, style.getPropertyValue(name));
  });
  for (const name of ofPage) copy.removeAttribute(name);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect"), name = document.createElementNS("http://www.w3.org/2000/svg", "title");
  paper.setAttribute("width", String(width));
  paper.setAttribute("height", String(height));
  paper.setAttribute("fill", getComputedStyle(svg.parentElement!).backgroundColor);
  name.textContent = title;
  copy.prepend(name, paper);
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}
