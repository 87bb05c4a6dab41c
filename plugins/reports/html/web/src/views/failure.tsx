// What is said when a file cannot be shown: cut short, or a browser too old for it.
import { render } from "preact";

export function showFailure(place: Element, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  render(
    <div class="failure" role="alert">
      <h1>This report cannot be shown</h1>
      <p>{reason}</p>
      <p>A browser of 2023 or newer is needed (DecompressionStream), and the whole file.</p>
    </div>,
    place,
  );
}
