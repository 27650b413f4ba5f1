// A map of the world on a canvas, in Mercator's projection, of which only outlines,
// cities and what the page has to show are drawn.

const degree = Math.PI / 180;
const earth = 6371.0088; // km, metricdp's EarthRadiusKm
export const maxLat = 85; // the edges of the map, where places beyond are drawn
const rim = 24; // pixels that it may be moved beyond them
const colors = {
  sea: "#dce8ef", land: "#f6f3ec", coast: "#8fa3ae", border: "#d3cabb", city: "#59616b",
  ink: "#1b1f24", heat: [107, 63, 160], sticky: "#b3400e", fresh: "#1f5fbf", said: "#8a5a00",
};

// mercator maps degrees to the unit square, north up.
function mercator(lat, lon) {
  const sin = Math.sin(Math.max(-maxLat, Math.min(maxLat, lat)) * degree);
  return [lon / 360 + 0.5, 0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI)];
}

function inverse(x, y) {
  return { lat: Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) / degree, lon: (x - Math.floor(x) - 0.5) * 360 };
}

const bottom = mercator(-maxLat, 0)[1];

// distance is that of metric.GreatCircle, for drawing and for finding near cities.
export function distance(a, b) {
  const dlat = Math.sin((a.lat - b.lat) * degree / 2), dlon = Math.sin((a.lon - b.lon) * degree / 2);
  const h = dlat * dlat + Math.cos(a.lat * degree) * Math.cos(b.lat * degree) * dlon * dlon;
  return 2 * earth * Math.atan2(Math.sqrt(h), Math.sqrt(Math.max(0, 1 - h)));
}

// circle returns the places at a distance of some km from p.
function circle(p, km) {
  const around = [], a = km / earth, lat = p.lat * degree;
  for (let k = 0; k <= 180; k++) {
    const bearing = k * 2 * degree;
    const sin = Math.sin(lat) * Math.cos(a) + Math.cos(lat) * Math.sin(a) * Math.cos(bearing);
    const lon = Math.atan2(Math.sin(bearing) * Math.sin(a) * Math.cos(lat), Math.cos(a) - Math.sin(lat) * sin);
    around.push({ lat: Math.asin(Math.max(-1, Math.min(1, sin))) / degree, lon: p.lon + lon / degree });
  }
  return around;
}

// lines turns the flat lists of differences in hundredths of a degree that
// land.json has into lists of points on the unit square, with their bounds.
function lines(lists) {
  return lists.map((list) => {
    const points = new Float64Array(list.length);
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    let lon = 0, lat = 0;
    for (let k = 0; k < list.length; k += 2) {
      lon += list[k];
      lat += list[k + 1];
      const [x, y] = mercator(lat / 100, lon / 100);
      points[k] = x;
      points[k + 1] = y;
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    }
    return { points, box };
  });
}

// WorldMap draws what its field show has: place, r50, r95 and alpha; sticky and
// fresh answers, their average; bubbles, a share for each of some cities.
export class WorldMap {
  constructor(canvas, outlines, cities) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.land = lines(outlines.land);
    this.borders = lines(outlines.borders);
    this.cities = cities;
    this.at = cities.map((c) => mercator(c.lat, c.lon));
    this.show = {};
    this.x = this.y = 0.5;
    this.scale = 1000; // pixels around the world
    this.onclick = () => {};
    this.later = null; // a fit asked of a canvas without a size
    new ResizeObserver(() => {
      if (this.later && this.sized) this.later();
      this.draw();
    }).observe(canvas);
    this.listen();
  }

  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }
  get sized() { return this.width > 0 && this.height > 0; }

  // pixel is where a place is on the canvas, the copy nearest to the middle.
  pixel(p) {
    const [x, y] = mercator(p.lat, p.lon);
    return this.toPixel(x, y);
  }

  toPixel(x, y) {
    const dx = x - this.x;
    return [(dx - Math.round(dx)) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  middle() { return inverse(this.x, this.y); }

  // placeAt is the place under a pixel.
  placeAt(px, py) {
    return inverse(this.x + (px - this.width / 2) / this.scale, this.y + (py - this.height / 2) / this.scale);
  }

  moveTo(p) {
    [this.x, this.y] = mercator(p.lat, p.lon);
    this.draw();
  }

  // fit shows the circle of some km around p, once the canvas has a size.
  fit(p, km) {
    this.later = this.sized ? null : () => this.fit(p, km);
    if (this.later) return;
    // How far the circle goes around the world, which is all around where a pole is in it,
    // and up and down.
    const a = km / earth, across = Math.sin(a) / Math.cos(p.lat * degree);
    const wide = a < Math.PI / 2 && across < 1 ? Math.asin(across) / (2 * Math.PI) : 0.5;
    const [, y] = mercator(p.lat, p.lon), [up, down] = [a, -a].map((d) => mercator(p.lat + d / degree, p.lon)[1]);
    this.scale = Math.min(this.width / 2 / wide, this.height / 2 / Math.max(y - up, down - y));
    [this.x, this.y] = mercator(p.lat, p.lon);
    this.clamp();
    this.draw();
  }

  // sees says whether p is on the canvas, and not at its very rim.
  sees(p) {
    const [px, py] = this.pixel(p);
    return px > 12 && py > 12 && px < this.width - 12 && py < this.height - 12;
  }

  // zoom makes all some times larger, around a pixel.
  zoom(times, px = this.width / 2, py = this.height / 2) {
    const x = this.x + (px - this.width / 2) / this.scale, y = this.y + (py - this.height / 2) / this.scale;
    this.scale *= times;
    this.clamp();
    this.x = x - (px - this.width / 2) / this.scale;
    this.y = y - (py - this.height / 2) / this.scale;
    this.draw();
  }

  // inView lists the largest cities on the canvas.
  inView(most) {
    const found = [];
    for (let k = 0; k < this.cities.length && found.length < most; k++) {
      const [px, py] = this.toPixel(...this.at[k]);
      if (px > 4 && py > 4 && px < this.width - 4 && py < this.height - 4) found.push(k);
    }
    return found;
  }

  clamp() {
    this.scale = Math.max(this.width, this.height, Math.min(4e7, this.scale));
    const half = (this.height / 2 - rim) / this.scale;
    this.y = Math.max(half, Math.min(1 - half, this.y));
    this.x -= Math.floor(this.x);
  }

  listen() {
    const held = new Map(); // pointers by their id
    let moved = false, spread = 0;
    const at = (e) => {
      const r = this.canvas.getBoundingClientRect();
      return [e.clientX - r.left, e.clientY - r.top];
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      if (held.size === 0) moved = false;
      held.set(e.pointerId, at(e));
      spread = 0;
    });
    this.canvas.addEventListener("pointermove", (e) => {
      const before = held.get(e.pointerId);
      if (!before) return;
      const now = at(e);
      if (!moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 5) return;
      moved = true;
      held.set(e.pointerId, now);
      this.x -= (now[0] - before[0]) / this.scale / held.size;
      this.y -= (now[1] - before[1]) / this.scale / held.size;
      if (held.size === 2) {
        const [a, b] = [...held.values()];
        const wide = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread > 0) this.zoom(wide / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
        spread = wide;
      }
      this.draw();
    });
    const up = (e) => {
      if (held.delete(e.pointerId) && held.size === 0 && !moved && e.type === "pointerup") this.onclick(this.placeAt(...at(e)));
    };
    this.canvas.addEventListener("pointerup", up);
    this.canvas.addEventListener("pointercancel", up);
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY / 400), ...at(e));
    }, { passive: false });
  }

  // draw draws all anew before the next frame.
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    if (!this.sized) return; // before layout and when hidden; a size draws again
    const ratio = window.devicePixelRatio || 1, c = this.context;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.clamp();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = colors.sea;
    c.fillRect(0, 0, this.width, this.height);
    c.lineJoin = "round";
    this.trace(this.land);
    c.fillStyle = colors.land;
    c.fill("evenodd");
    this.trace(this.land, true);
    c.strokeStyle = colors.coast;
    c.lineWidth = 0.8;
    c.stroke();
    this.trace(this.borders);
    c.strokeStyle = colors.border;
    c.lineWidth = 1;
    c.stroke();
    if (this.show.place) this.heat();
    if (this.show.bubbles) this.bubbles();
    this.dots();
    if (this.show.way) this.way();
    if (this.show.place) this.answers();
    this.bar();
  }

  // trace makes a path of the lines that are in view, on all copies of the world;
  // for a stroke without those to the pole, which are no coast.
  trace(all, coast = false) {
    const c = this.context, w = this.width, h = this.height;
    c.beginPath();
    for (const { points, box } of all) {
      for (let copy = -1; copy <= 1; copy++) {
        const left = (copy - this.x) * this.scale + w / 2, top = -this.y * this.scale + h / 2;
        if (left + box[2] * this.scale < 0 || left + box[0] * this.scale > w || top + box[3] * this.scale < 0 || top + box[1] * this.scale > h) continue;
        for (let k = 0; k < points.length; k += 2) {
          const px = left + points[k] * this.scale, py = top + points[k + 1] * this.scale;
          if (k === 0 || coast && Math.max(points[k + 1], points[k - 1]) >= bottom) c.moveTo(px, py); else c.lineTo(px, py);
        }
      }
    }
  }

  // heat shades the density of the noise, and draws its circles.
  heat() {
    const { place, alpha, r50, r95 } = this.show, c = this.context, cell = 5;
    const w = Math.ceil(this.width / cell), h = Math.ceil(this.height / cell);
    const picture = new ImageData(w, h);
    for (let j = 0, k = 0; j < h; j++) {
      for (let i = 0; i < w; i++, k += 4) {
        const dark = Math.exp(-alpha * distance(place, this.placeAt((i + 0.5) * cell, (j + 0.5) * cell)));
        picture.data.set(colors.heat, k);
        picture.data[k + 3] = 190 * dark;
      }
    }
    const small = new OffscreenCanvas(w, h);
    small.getContext("2d").putImageData(picture, 0, 0);
    c.drawImage(small, 0, 0, w * cell, h * cell);
    this.ring(circle(place, r50), [], "50 %");
    this.ring(circle(place, r95), [7, 5], "95 %");
  }

  // ring draws a circle of places, with a word at its top.
  ring(around, dash, word) {
    const c = this.context;
    const path = [];
    let last = null;
    for (const p of around) {
      const at = this.pixel(p);
      if (last) at[0] += Math.round((last[0] - at[0]) / this.scale) * this.scale;
      path.push(at);
      last = at;
    }
    c.strokeStyle = `rgb(${colors.heat})`;
    c.lineWidth = 1.6;
    c.setLineDash(dash);
    for (let copy = -1; copy <= 1; copy++) {
      c.beginPath();
      for (const [px, py] of path) c.lineTo(px + copy * this.scale, py);
      c.stroke();
    }
    c.setLineDash([]);
    this.word(word, path[0][0], path[0][1] - 4, `rgb(${colors.heat})`, "600 12px system-ui, Liberation Sans, sans-serif", "center");
  }

  word(text, px, py, color, font, align) {
    const c = this.context;
    c.font = font;
    c.textAlign = align;
    c.lineWidth = 3;
    c.strokeStyle = "rgba(255, 255, 255, 0.85)";
    c.strokeText(text, px, py);
    c.fillStyle = color;
    c.fillText(text, px, py);
  }

  // dots draws the largest cities, and the names that have room.
  dots() {
    const c = this.context, taken = [];
    const keep = (px, py, w, h) => taken.push([px, py, px + w, py + h]);
    if (this.show.place) {
      const [px, py] = this.pixel(this.show.place);
      keep(px - 12, py - 12, 24, 24);
    }
    const font = "12px system-ui, Liberation Sans, sans-serif";
    c.font = font;
    for (const k of this.inView(Math.round(this.width / 16))) {
      const [px, py] = this.toPixel(...this.at[k]);
      c.beginPath();
      c.arc(px, py, 2, 0, 7);
      c.fillStyle = colors.city;
      c.fill();
      const box = [px + 5, py - 8, px + 9 + c.measureText(this.cities[k].name).width, py + 8];
      if (box[2] > this.width || taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
      taken.push(box, [px - 3, py - 3, px + 3, py + 3]);
      this.word(this.cities[k].name, px + 5, py + 4, colors.city, font, "left");
    }
  }

  // bubbles draws a disc for each city whose area is its share.
  bubbles() {
    const c = this.context, most = Math.min(this.width, this.height) / 7;
    for (const { place, share } of this.show.bubbles) {
      const [px, py] = this.pixel(place);
      c.beginPath();
      c.arc(px, py, most * Math.sqrt(share), 0, 7);
      c.fillStyle = "rgba(11, 110, 79, 0.35)";
      c.strokeStyle = "#0b6e4f";
      c.lineWidth = 1.2;
      c.fill();
      c.stroke();
    }
  }

  // way draws the positions of a trail, true and reported.
  way() {
    const c = this.context;
    const line = (places, color, width, dash) => {
      c.beginPath();
      for (const p of places) c.lineTo(...this.pixel(p));
      c.strokeStyle = color;
      c.lineWidth = width;
      c.setLineDash(dash);
      c.stroke();
      c.setLineDash([]);
    };
    line(this.show.way.said, colors.said, 2, []);
    c.fillStyle = colors.said;
    for (const p of this.show.way.said) {
      const [px, py] = this.pixel(p);
      c.fillRect(px - 3, py - 3, 6, 6);
    }
    line(this.show.way.walked, colors.ink, 2, [4, 3]);
  }

  answers() {
    const c = this.context, { place, sticky, fresh = [], average } = this.show;
    c.lineWidth = 1;
    for (const p of fresh) {
      const [px, py] = this.pixel(p);
      c.beginPath();
      c.arc(px, py, 4, 0, 7);
      c.fillStyle = colors.fresh;
      c.strokeStyle = "#fff";
      c.fill();
      c.stroke();
    }
    const cross = (px, py, r) => {
      c.beginPath();
      c.moveTo(px - r, py - r);
      c.lineTo(px + r, py + r);
      c.moveTo(px + r, py - r);
      c.lineTo(px - r, py + r);
      c.stroke();
    };
    if (average) {
      const [px, py] = this.pixel(average);
      c.strokeStyle = "#fff";
      c.lineWidth = 6;
      cross(px, py, 8);
      c.strokeStyle = colors.fresh;
      c.lineWidth = 3;
      cross(px, py, 8);
    }
    if (sticky) {
      const [px, py] = this.pixel(sticky);
      c.beginPath();
      c.moveTo(px, py - 10);
      c.lineTo(px + 10, py);
      c.lineTo(px, py + 10);
      c.lineTo(px - 10, py);
      c.closePath();
      c.fillStyle = colors.sticky;
      c.strokeStyle = "#fff";
      c.lineWidth = 2;
      c.fill();
      c.stroke();
    }
    const [px, py] = this.pixel(place);
    c.beginPath();
    c.arc(px, py, 5, 0, 7);
    for (const [dx, dy] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) {
      c.moveTo(px + 5 * dx, py + 5 * dy);
      c.lineTo(px + 12 * dx, py + 12 * dy);
    }
    c.strokeStyle = "#fff";
    c.lineWidth = 5;
    c.stroke();
    c.strokeStyle = c.fillStyle = colors.ink;
    c.lineWidth = 2;
    c.stroke();
    c.fill();
  }

  // bar draws a length of a round number of km, true in the middle of the map.
  bar() {
    const c = this.context, middle = this.middle();
    const perKm = this.scale / (2 * Math.PI * earth * Math.cos(middle.lat * degree));
    const most = Math.min(140, this.width / 3) / perKm;
    const tens = 10 ** Math.floor(Math.log10(most));
    const km = [5, 2, 1].find((n) => n * tens <= most) * tens;
    const y = this.height - 14, w = km * perKm;
    c.beginPath();
    c.moveTo(14, y - 5);
    c.lineTo(14, y);
    c.lineTo(14 + w, y);
    c.lineTo(14 + w, y - 5);
    c.strokeStyle = colors.ink;
    c.lineWidth = 1.5;
    c.stroke();
    this.word(km >= 1 ? `${km} km` : `${Math.round(km * 1000)} m`, 14 + w / 2, y - 5, colors.ink, "12px system-ui, Liberation Sans, sans-serif", "center");
  }
}
