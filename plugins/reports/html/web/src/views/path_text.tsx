// A path in a narrow column. A long path is cut at its beginning, which many paths share.
import { shortened } from "../format/text";

export function PathText({ text }: { text: string }) {
  return <span class="path" title={shortened(text, 300)}><bdi>{shortened(text, 120)}</bdi></span>;
}
