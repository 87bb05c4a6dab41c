// Data in the page: <script type="application/octet-stream" id="tmeter-NAME">, base64 of raw deflate
// of JSON. A block is decoded on first use.

type FromBase64 = (text: string) => Uint8Array<ArrayBuffer>;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: FromBase64 }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function decode(base64: string): Promise<unknown> {
  const bytes = new Blob([fromBase64(base64)]).stream();
  const inflated = bytes.pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(inflated).text());
}

export class Blocks {
  private readonly decoded = new Map<string, Promise<unknown>>();

  constructor(private readonly page: Document) {}

  get<T>(name: string): Promise<T> {
    let block = this.decoded.get(name);
    if (!block) this.decoded.set(name, (block = this.load(name)));
    return block as Promise<T>;
  }

  private async load(name: string): Promise<unknown> {
    const element = this.page.getElementById(`tmeter-${name}`);
    if (!element?.textContent) throw new Error(`this file has no data of ${name}: it was cut short`);
    const text = element.textContent;
    element.remove();  // otherwise the page would hold the data twice
    return decode(text);
  }
}
