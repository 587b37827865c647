// The viewer: two pictures and the map of their differences, on one or two canvases with one zoom and one place.

const VIEWS = {
  side: "Side by side",
  slider: "Slider",
  blink: "Blink",
  onion: "Onion skin",
  difference: "Difference",
  heat: "Heat map",
};
// What the range does in a view: its name, least, most, step, and the value at first.
const AMOUNTS = {
  slider: ["Split (%)", 0, 100, 0.5, 50],
  blink: ["Changes per second", 0.5, 3, 0.25, 2],
  onion: ["Share of the result (%)", 0, 100, 1, 50],
  difference: ["Gain (steps of two)", 0, 10, 0.5, 2],
  heat: ["Opacity (%)", 0, 100, 1, 100],
};
const MOST_ZOOM = 64;
// The zoom from which pixels are large enough to hold their values.
const WRITTEN_ZOOM = 48;

class Viewer {
  constructor(find) {
    this.canvases = [find("left"), find("right")];
    this.captions = [find("left-caption"), find("right-caption")];
    this.readout = find("values");
    this.amounts = Object.fromEntries(Object.entries(AMOUNTS).map(([view, spec]) => [view, spec[4]]));
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.exposure = 0;
    this.empty();
    for (const canvas of this.canvases) this.listen(canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvases[0]);
    this.still.addEventListener("change", () => this.run());
  }

  empty() {
    clearInterval(this.timer);
    Object.assign(this, { reference: null, result: null, heat: null, about: {}, drawn: {}, view: "side" });
    Object.assign(this, { flipped: false, fitted: true, zoom: 0, x: 0, y: 0, probe: null, drag: null });
  }

  // `about` is what the page knows of the pictures, `name` what people call them.
  show(pictures, about, name, view) {
    this.empty();
    Object.assign(this, pictures, { about, name });
    this.use(view);
  }

  get pair() {
    return Boolean(this.reference && this.result && this.about.aligned);
  }

  can(view) {
    return view === "side" || (this.pair && (view !== "heat" || Boolean(this.heat)));
  }

  get any() {
    return this.reference || this.result;
  }

  use(view) {
    this.view = this.can(view) ? view : "side";
    const two = this.view === "side" && this.reference && this.result;
    this.canvases[1].parentElement.hidden = !two;
    this.run();
    this.draw();
  }

  // Blinking goes on by itself, unless people have asked their system for less motion.
  run() {
    clearInterval(this.timer);
    if (this.view === "blink" && !this.still.matches) {
      this.timer = setInterval(() => this.flip(), 1000 / Math.min(this.amounts.blink, 3));
    }
  }

  flip() {
    this.flipped = !this.flipped;
    this.draw();
  }

  setAmount(value) {
    this.amounts[this.view] = value;
    if (this.view === "blink") this.run();
    this.draw();
  }

  setExposure(value) {
    this.exposure = value;
    this.draw();
  }

  // Each drawing is kept until what it depends on changes.
  drawing(which, key, make) {
    const kept = this.drawn[which];
    if (kept && kept.key === key) return kept.canvas;
    const canvas = make();
    this.drawn[which] = { key, canvas };
    return canvas;
  }

  side(which) {
    return this.drawing(which, this.exposure, () => shown(this[which], this.exposure));
  }

  layers(pane) {
    const amount = this.amounts[this.view], { reference, result } = this;
    if (this.view === "side") {
      const which = pane === 0 && reference ? "reference" : "result";
      return [which === "result" ? "Result" : "Reference", [[which, this.side(which), 1, 0]]];
    }
    if (this.view === "slider") {
      const split = amount / 100;
      return ["Reference at the left, result at the right", [
        ["reference", this.side("reference"), 1, 0], ["result", this.side("result"), 1, split],
      ]];
    }
    if (this.view === "blink") {
      const which = this.flipped ? "result" : "reference";
      const stopped = this.still.matches ? " (reduced motion: Space switches)" : "";
      return [(this.flipped ? "Result" : "Reference") + stopped, [[which, this.side(which), 1, 0]]];
    }
    if (this.view === "onion") {
      return [`Reference under ${amount} % of the result`, [
        ["reference", this.side("reference"), 1, 0], ["result", this.side("result"), amount / 100, 0],
      ]];
    }
    if (this.view === "difference") {
      const gain = 2 ** amount;
      const canvas = this.drawing("difference", gain, () => difference(reference, result, gain));
      return [`Absolute difference × ${written(Number(gain.toPrecision(4)))}`, [["result", canvas, 1, 0]]];
    }
    const map = this.drawing("heat", 0, () => coloured(this.heat, this.about.palette));
    return [`${this.about.heat.name}: black is 0, white ${written(Number(this.about.top.toPrecision(4)))}`, [
      ["result", this.side("result"), 1, 0], ["result", map, amount / 100, 0],
    ]];
  }

  draw() {
    if (!this.any) return;
    const ratio = devicePixelRatio || 1;
    this.canvases.forEach((canvas, pane) => {
      if (canvas.parentElement.hidden) return;
      const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
      const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      if (this.fitted) this.fit();
      const [caption, layers] = this.layers(pane);
      this.captions[pane].textContent = caption;
      canvas.setAttribute("aria-label", `${caption}. ${this.name}`);
      this.paint(canvas.getContext("2d"), canvas, layers, ratio);
    });
    this.tell();
  }

  paint(context, canvas, layers, ratio) {
    const scale = this.zoom * ratio;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = scale < 1;
    context.imageSmoothingQuality = "high";
    for (const [which, drawing, alpha, split] of layers) {
      const at = this[which];
      context.save();
      if (split) {
        context.beginPath();
        context.rect(canvas.width * split, 0, canvas.width, canvas.height);
        context.clip();
      }
      context.globalAlpha = alpha;
      const left = canvas.width / 2 + (at.x - this.x) * scale, top = canvas.height / 2 + (at.y - this.y) * scale;
      context.drawImage(drawing, Math.round(left), Math.round(top), drawing.width * scale, drawing.height * scale);
      context.restore();
      if (split) this.stroke(context, canvas.width * split, 0, 0, canvas.height, ratio);
    }
    if (layers.length === 1 && this.zoom >= WRITTEN_ZOOM && this.view !== "difference") {
      this.write(context, canvas, this[layers[0][0]], scale, ratio);
    }
    if (this.probe) {
      const left = Math.round(canvas.width / 2 + (this.probe.x - this.x) * scale);
      const top = Math.round(canvas.height / 2 + (this.probe.y - this.y) * scale);
      const size = Math.max(scale, 6 * ratio);
      this.stroke(context, left + scale / 2 - size / 2, top + scale / 2 - size / 2, size, size, ratio);
    }
  }

  // Writes the stored values into the pixels, a line for each channel.
  write(context, canvas, picture, scale, ratio) {
    const across = canvas.width / 2 / scale, down = canvas.height / 2 / scale;
    const within = (from, to, first, size) => [
      Math.max(Math.floor(from), first), Math.min(Math.ceil(to), first + size),
    ];
    const [left, right] = within(this.x - across, this.x + across, picture.x, picture.width);
    const [top, bottom] = within(this.y - down, this.y + down, picture.y, picture.height);
    const line = 11 * ratio;
    context.font = `${10 * ratio}px monospace`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3 * ratio;
    context.strokeStyle = "#000";
    context.fillStyle = "#fff";
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const middle = canvas.width / 2 + (x + 0.5 - this.x) * scale;
        const first = canvas.height / 2 + (y + 0.5 - this.y) * scale - (line * (picture.channels - 1)) / 2;
        const at = ((y - picture.y) * picture.width + x - picture.x) * picture.channels;
        for (let k = 0; k < picture.channels; k++) {
          const text = written(Number(picture.values[at + k].toPrecision(picture.range > 1 ? 7 : 3)));
          context.strokeText(text, middle, first + k * line);
          context.fillText(text, middle, first + k * line);
        }
      }
    }
  }

  // A white line on a black one shows on everything.
  stroke(context, x, y, width, height, ratio) {
    for (const [colour, thick] of [["#000", 3], ["#fff", 1]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick * ratio;
      context.strokeRect(x, y, width, height);
    }
  }

  // Until people zoom or move, the whole part is seen, whatever the view and the size of the window.
  fit() {
    this.fitted = true;
    const canvas = this.canvases[0], boxes = [this.reference, this.result].filter(Boolean);
    const width = Math.max(...boxes.map((box) => box.width)), height = Math.max(...boxes.map((box) => box.height));
    const whole = Math.min(canvas.clientWidth / width, canvas.clientHeight / height) || 1;
    // Pixels that are seen one by one are all of one size.
    this.zoom = whole < 3 ? whole : Math.min(Math.floor(whole), 16);
    this.x = boxes[0].x + width / 2;
    this.y = boxes[0].y + height / 2;
  }

  scaleTo(zoom, at = null) {
    this.fitted = false;
    const before = this.zoom, next = Math.min(Math.max(zoom, 0.02), MOST_ZOOM);
    if (at) {
      // The point under the pointer stays where it is.
      this.x += at.x * (1 / before - 1 / next);
      this.y += at.y * (1 / before - 1 / next);
    }
    this.zoom = next;
    this.draw();
  }

  goTo(x, y, zoom = this.zoom) {
    Object.assign(this, { x: x + 0.5, y: y + 0.5, probe: { x, y } });
    this.scaleTo(zoom);
  }

  worst() {
    const { heat, about } = this;
    if (about.worst) return this.goTo(about.worst[0], about.worst[1], Math.max(this.zoom, 16));
    if (!heat) return undefined;
    const at = heat.values.reduce((best, value, i) => (value > heat.values[best] ? i : best), 0);
    const width = heat.width;
    return this.goTo(heat.x + (at % width), heat.y + Math.floor(at / width), Math.max(this.zoom, 16));
  }

  move(dx, dy) {
    const step = Math.max(1, Math.round(1 / this.zoom));
    const from = this.probe || { x: Math.floor(this.x), y: Math.floor(this.y) }, box = this.any;
    const x = Math.min(Math.max(from.x + dx * step, box.x), box.x + box.width - 1);
    const y = Math.min(Math.max(from.y + dy * step, box.y), box.y + box.height - 1);
    this.probe = { x, y };
    this.fitted = false;
    const canvas = this.canvases[0];
    if (Math.abs(x - this.x) * this.zoom > canvas.clientWidth / 2) this.x = x + 0.5;
    if (Math.abs(y - this.y) * this.zoom > canvas.clientHeight / 2) this.y = y + 0.5;
    this.draw();
  }

  tell() {
    if (!this.probe) {
      this.readout.textContent = "Point at a picture, or use its arrow keys, to read its values.";
      return;
    }
    const { x, y } = this.probe, parts = [`x ${x}, y ${y}`];
    for (const which of ["reference", "result"]) {
      if (this[which]) parts.push(`${which} ${valuesAt(this[which], x, y)}`);
    }
    const level = this.heat ? this.heat.values[(y - this.heat.y) * this.heat.width + x - this.heat.x] : undefined;
    if (level !== undefined) parts.push(`map ${written(Number(((level / 255) * this.about.top).toPrecision(3)))}`);
    parts.push(`zoom ${Math.round(100 * this.zoom)} %`);
    this.readout.replaceChildren(...parts.map((part) => {
      const span = document.createElement("span");
      span.textContent = part;
      return span;
    }));
  }

  listen(canvas) {
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left - box.width / 2, y: event.clientY - box.top - box.height / 2 };
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scaleTo(this.zoom * 2 ** (-Math.sign(event.deltaY) / 2), place(event));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      this.drag = { x: event.clientX, y: event.clientY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => (this.drag = null));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointermove", (event) => {
      if (this.drag) {
        this.fitted = false;
        this.x -= (event.clientX - this.drag.x) / this.zoom;
        this.y -= (event.clientY - this.drag.y) / this.zoom;
        this.drag = { x: event.clientX, y: event.clientY };
      }
      const at = place(event);
      this.probe = { x: Math.floor(this.x + at.x / this.zoom), y: Math.floor(this.y + at.y / this.zoom) };
      this.draw();
    });
    canvas.addEventListener("keydown", (event) => {
      const far = event.shiftKey ? 10 : 1;
      const way = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far] }[event.key];
      if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.move(...way);
    });
  }
}
