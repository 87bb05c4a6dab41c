// A chart as a PNG: uPlot's canvas with a title above and a legend below, which the canvas lacks.

export interface PngChart {
  canvas: HTMLCanvasElement;
  title: string;
  curves: readonly { title: string; color: string; dash: readonly number[] }[];
  ink: string;
  paper: string;
}

const titleHeight = 34, line = 20, column = 260, edge = 14;  // CSS pixels

export function pngOf({ canvas, title, curves, ink, paper }: PngChart): Promise<Blob | null> {
  const ratio = canvas.width / (canvas.clientWidth || canvas.width);
  const width = canvas.width / ratio, height = canvas.height / ratio;
  const columns = Math.max(1, Math.floor((width - edge) / column)), rows = Math.ceil(curves.length / columns);
  const out = document.createElement("canvas");
  [out.width, out.height] = [canvas.width, Math.ceil((titleHeight + height + rows * line + edge) * ratio)];
  const context = out.getContext("2d")!;
  context.scale(ratio, ratio);
  context.fillStyle = paper;
  context.fillRect(0, 0, out.width, out.height);
  context.drawImage(canvas, 0, titleHeight, width, height);
  context.fillStyle = ink;
  context.font = "bold 14px system-ui, sans-serif";
  context.fillText(title, edge, 22, width - 2 * edge);
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 3;
  curves.forEach((curve, i) => {
    const x = edge + (i % columns) * column, y = titleHeight + height + Math.floor(i / columns) * line + line / 2;
    context.strokeStyle = curve.color;
    context.setLineDash([...curve.dash]);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 24, y);
    context.stroke();
    context.fillText(curve.title, x + 32, y + 4, column - 44);
  });
  return new Promise((resolve) => { out.toBlob(resolve, "image/png"); });
}
