"use strict";
// Pictures: from base64 to arrays of their stored values, and from those to what a canvas shows.
// A picture is { width, height, channels, alpha, linear, range, values, x, y }: `values` has a number for each channel
// of each pixel, `range` is what stands for 1, and (x, y) is the place of the first pixel in the whole picture.

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(parts) {
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A PNG without interlacing is read here and not by the browser, whose canvas would change colours under alpha and
// cut 16 bits to 8. Chunks and filters: W3C Portable Network Graphics (Third Edition), 5 and 9.
async function fromPng(bytes) {
  const view = new DataView(bytes.buffer), data = [];
  let header = 0;
  for (let at = 8; at < bytes.length; at += 12 + view.getUint32(at)) {
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (name === "IHDR") header = at + 8;
    if (name === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const width = view.getUint32(header), height = view.getUint32(header + 4);
  const size = bytes[header + 8] / 8, channels = [1, 0, 3, 1, 2, 0, 4][bytes[header + 9]];
  const rows = unfiltered(await inflated(data), height, width * channels * size, channels * size);
  if (size === 1) return { width, height, channels, range: 255, values: rows };
  const values = new Uint16Array(rows.length / 2);
  for (let i = 0; i < values.length; i++) values[i] = (rows[2 * i] << 8) | rows[2 * i + 1];
  return { width, height, channels, range: 65535, values };
}

function unfiltered(data, height, length, step) {
  const out = new Uint8Array(height * length);
  for (let y = 0; y < height; y++) {
    const kind = data[y * (length + 1)], from = y * (length + 1) + 1, to = y * length;
    for (let x = 0; x < length; x++) {
      const left = x >= step ? out[to + x - step] : 0;
      const up = y > 0 ? out[to + x - length] : 0;
      const corner = x >= step && y > 0 ? out[to + x - length - step] : 0;
      let guess = 0;
      if (kind === 1) guess = left;
      else if (kind === 2) guess = up;
      else if (kind === 3) guess = (left + up) >> 1;
      else if (kind === 4) {
        const a = Math.abs(up - corner), b = Math.abs(left - corner), c = Math.abs(left + up - 2 * corner);
        guess = a <= b && a <= c ? left : b <= c ? up : corner;
      }
      out[to + x] = data[from + x] + guess;
    }
  }
  return out;
}

// Half or single floats: planes of bytes, the most significant first, each as differences to the pixel at its left.
async function fromFloats(bytes, { width, height, channels, kind }) {
  const data = await inflated([bytes]), size = kind === "float16" ? 2 : 4;
  const count = width * height * channels, row = width * channels;
  const little = new Uint8Array(count * size);
  for (let plane = 0; plane < size; plane++) {
    for (let i = 0; i < count; i++) {
      const before = i % row >= channels ? little[(i - channels) * size + size - 1 - plane] : 0;
      little[i * size + size - 1 - plane] = data[plane * count + i] + before;
    }
  }
  const memory = new DataView(little.buffer), values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    values[i] = size === 4 ? memory.getFloat32(4 * i, true) : half(memory.getUint16(2 * i, true));
  }
  return { width, height, channels, range: 1, values };
}

// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

// sRGB's curve (IEC 61966-2-1) in steps that are a fifth of an 8-bit level where it is steepest.
const STEPS = 16384;
const CURVE = Uint8ClampedArray.from({ length: STEPS + 1 }, (_, i) => {
  const light = i / STEPS;
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
});

// The 8-bit level that shows a value, which is a fraction of the range.
function level(value, linear) {
  const inside = value > 0 ? Math.min(value, 1) : 0;
  return linear ? CURVE[(inside * STEPS + 0.5) | 0] : (inside * 255 + 0.5) | 0;
}

// Draws a picture at an exposure (in EV) to a new canvas. NaN is magenta, and what is transparent a chequerboard.
function shown(picture, exposure) {
  const { width, height, channels, alpha, linear, range, values } = picture;
  const gain = 2 ** exposure / range, colours = channels - alpha, image = new ImageData(width, height);
  let table = null;
  if (range > 1) table = Uint8Array.from({ length: range + 1 }, (_, i) => level(i * gain, linear));
  for (let i = 0; i < width * height; i++) {
    const first = i * channels;
    for (let k = 0; k < 3; k++) {
      const value = values[first + (colours === 3 ? k : 0)];
      image.data[4 * i + k] = table ? table[value] : level(value * gain, linear);
    }
    if (!table && lost(values, first, colours)) image.data.set([255, 0, 255], 4 * i);
    if (alpha) {
      const cover = Math.min(Math.max(values[first + colours] / range, 0), 1) || 0;
      const behind = (((i % width) >> 3) ^ ((i / width) >> 3)) & 1 ? 153 : 102;
      for (let k = 0; k < 3; k++) image.data[4 * i + k] = image.data[4 * i + k] * cover + behind * (1 - cover);
    }
    image.data[4 * i + 3] = 255;
  }
  return canvasOf(image);
}

function lost(values, first, colours) {
  for (let k = 0; k < colours; k++) if (Number.isNaN(values[first + k])) return true;
  return false;
}

// Draws the absolute differences of two pictures of one size, times a gain; NaN beside a number is white. Where only
// one picture is of floats that are light, they get sRGB's curve first, as in the map.
function difference(a, b, gain) {
  const image = new ImageData(a.width, a.height), coded = (a.range > 1) !== (b.range > 1);
  for (let i = 0; i < a.width * a.height; i++) {
    let veil = 0;
    if (a.alpha || b.alpha) veil = apart(opacity(a, i), opacity(b, i));
    for (let k = 0; k < 3; k++) {
      image.data[4 * i + k] = 255 * gain * Math.max(apart(fraction(a, i, k, coded), fraction(b, i, k, coded)), veil);
    }
    image.data[4 * i + 3] = 255;
  }
  return canvasOf(image);
}

function fraction(picture, pixel, k, coded) {
  const colours = picture.channels - picture.alpha;
  const value = picture.values[pixel * picture.channels + (colours === 3 ? k : 0)] / picture.range;
  if (!coded || picture.range > 1 || !picture.linear) return value;
  return value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
}

function opacity(picture, pixel) {
  return picture.alpha ? picture.values[(pixel + 1) * picture.channels - 1] / picture.range : 1;
}

function apart(a, b) {
  if (Object.is(a, b) || a === b) return 0;
  const far = Math.abs(a - b);
  return Number.isNaN(far) ? Infinity : far;
}

// Draws the numbers of a palette's colours.
function coloured(picture, palette) {
  const image = new ImageData(picture.width, picture.height);
  for (let i = 0; i < picture.values.length; i++) {
    for (let k = 0; k < 3; k++) image.data[4 * i + k] = palette[3 * picture.values[i] + k];
    image.data[4 * i + 3] = 255;
  }
  return canvasOf(image);
}

function canvasOf(image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// The stored values of the pixel at (x, y) of the whole picture, as text.
function valuesAt(picture, x, y) {
  const column = x - picture.x, row = y - picture.y;
  if (column < 0 || row < 0 || column >= picture.width || row >= picture.height) return "outside";
  const first = (row * picture.width + column) * picture.channels;
  return Array.from(picture.values.subarray(first, first + picture.channels), written).join(" ");
}

function written(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(7))) : Number.isNaN(value) ? "NaN" : value < 0 ? "−Inf" : "Inf";
}
