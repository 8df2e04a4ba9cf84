// A plot of one value over time, beside the stage.
const KEEP = 4000;

export class Plot {
  readonly element = document.createElement("div");
  private readonly canvas = document.createElement("canvas");
  private readonly reading = document.createElement("span");
  private times: number[] = [];
  private values: number[] = [];

  constructor(readonly name: string, close: () => void) {
    const head = document.createElement("h2");
    const title = document.createElement("span");
    title.textContent = name;
    const button = document.createElement("button");
    button.textContent = "Close";
    button.onclick = close;
    head.append(title, this.reading, button);
    this.element.append(head, this.canvas);
    this.element.dataset.plot = name;
  }

  add(time: number, value: number) {
    if (!Number.isFinite(value)) return;
    if (this.times.length > 0 && time <= this.times[this.times.length - 1]) {
      if (time === this.times[this.times.length - 1]) return;
      // Time went back, by a reset or by seeking in a recording.
      const keep = this.times.findIndex((t) => t >= time);
      this.times.splice(keep);
      this.values.splice(keep);
    }
    this.times.push(time);
    this.values.push(value);
    if (this.times.length > KEEP) { this.times.shift(); this.values.shift(); }
  }
  get points() { return this.times.length; }

  draw() {
    const scale = devicePixelRatio, width = this.canvas.clientWidth * scale, height = this.canvas.clientHeight * scale;
    if (width === 0) return;
    if (this.canvas.width !== width || this.canvas.height !== height) { this.canvas.width = width; this.canvas.height = height; }
    const g = this.canvas.getContext("2d")!;
    g.clearRect(0, 0, width, height);
    if (this.times.length === 0) return;
    const first = this.times[0], span = Math.max(1e-9, this.times[this.times.length - 1] - first);
    let low = Math.min(...this.values), high = Math.max(...this.values);
    if (high - low < 1e-12) { low -= 0.5; high += 0.5; }
    const left = 46 * scale, top = 6 * scale, bottom = height - 14 * scale;
    const x = (t: number) => left + ((t - first) / span) * (width - left - 4 * scale);
    const y = (v: number) => bottom - ((v - low) / (high - low)) * (bottom - top);
    g.font = `${10 * scale}px system-ui, sans-serif`;
    const style = getComputedStyle(this.canvas);  // texts in its colour, the curve in that of its border
    g.fillStyle = g.strokeStyle = style.color;
    g.globalAlpha = 1;
    g.lineWidth = scale;
    g.textAlign = "right";
    for (const v of [low, (low + high) / 2, high]) {
      g.fillText(short(v), left - 4 * scale, y(v) + 3 * scale);
      g.globalAlpha = 0.3;
      g.beginPath(); g.moveTo(left, y(v)); g.lineTo(width, y(v)); g.stroke();
      g.globalAlpha = 1;
    }
    g.fillText(`${short(first + span)} s`, width - 2 * scale, height - 2 * scale);
    g.textAlign = "left";
    g.fillText(`${short(first)} s`, left, height - 2 * scale);
    g.strokeStyle = style.borderTopColor;
    g.lineWidth = 1.5 * scale;
    g.beginPath();
    this.times.forEach((t, i) => (i === 0 ? g.moveTo(x(t), y(this.values[i])) : g.lineTo(x(t), y(this.values[i]))));
    g.stroke();
    this.reading.textContent = short(this.values[this.values.length - 1]);
  }
}

export function short(value: number) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(4)));
}
