// The message for a file that cannot be shown: it was cut short, or the browser is too old.
import { render } from "preact";

export function showFailure(place: Element, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  render(
    <div class="failure" role="alert">
      <h1>This report cannot be shown</h1>
      <p>{reason}</p>
      <p>It needs a browser of 2023 or newer (DecompressionStream) and the whole file.</p>
    </div>,
    place,
  );
}
