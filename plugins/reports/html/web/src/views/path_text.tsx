// A path in a narrow column: what is too long is cut at its beginning, which many have in common.
import { shortened } from "../format/text";

export function PathText({ text }: { text: string }) {
  return <span class="path" title={shortened(text, 300)}><bdi>{shortened(text, 120)}</bdi></span>;
}
