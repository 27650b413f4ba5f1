// The page around the map. What is private about it happens in metricdp, a function
// of the library compiled to WebAssembly; see package engine.

import { WorldMap, distance, maxLat } from "./map.js";

const $ = (id) => document.getElementById(id);
const most = 40; // cities compared

// ask asks the library a question.
function ask(what, args = {}) {
  const reply = JSON.parse(metricdp(what, JSON.stringify(args)));
  if (reply.error) throw new Error(reply.error);
  return reply.answer;
}

async function start() {
  const go = new Go();
  const ready = new Promise((resolve) => { globalThis.metricdpReady = resolve; });
  const load = async (name, as) => {
    const reply = await fetch(name);
    if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
    return reply[as]();
  };
  const [code, outlines, cities] = await Promise.all([
    load("metricdp.wasm", "arrayBuffer"), load("land.json", "json"), load("cities.json", "json"),
  ]);
  go.run((await WebAssembly.instantiate(code, go.importObject)).instance);
  await ready;
  return { outlines, cities: cities.map((c) => ({ name: c.Name, full: c.Country ? `${c.Name}, ${c.Country}` : c.Name, lat: c.Lat, lon: c.Lon })) };
}

// Numbers for people.

const digits = (x, n = 3) => Number(x.toPrecision(n)).toLocaleString("en-US", { maximumSignificantDigits: n });
const far = (km) => km < 1 ? `${digits(km * 1000, 2)} m` : `${digits(km, km < 100 ? 2 : 3)} km`;
const raised = (n) => String(n).replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
const factor = (f) => f < 1e6 ? digits(f, f < 10 ? 3 : 2) : f < 1e100 ? `10${raised(Math.ceil(Math.log10(f)))}` : `more than 10${raised(100)}`;
const where = (p, decimals) => `${p.lat.toFixed(decimals)}, ${p.lon.toFixed(decimals)}`;
const place = (p) => ({ lat: p.Lat, lon: p.Lon });

const state = { place: null, wish: { km: 10, odds: 2 }, noise: null, sticky: null, asked: 0, fresh: [], rows: null, way: null, walking: 0 };
let map, cities;

const wished = () => ({ Km: state.wish.km, Odds: state.wish.odds, Place: { Lat: state.place.lat, Lon: state.place.lon } });

// guarded runs f and shows its error.
function guarded(f) {
  return (...args) => {
    try {
      $("error").textContent = "";
      f(...args);
    } catch (e) {
      $("error").textContent = e.message;
    }
  };
}

// choose makes p the place, rounded to a meter.
function choose(p, { move = false } = {}) {
  const lon = p.lon - 360 * Math.round(p.lon / 360);
  state.place = { lat: Number(Math.max(-90, Math.min(90, p.lat)).toFixed(5)), lon: Number(lon.toFixed(5)) };
  $("lat").value = state.place.lat;
  $("lon").value = state.place.lon;
  for (const id of ["lat", "lon"]) $(id).setAttribute("aria-invalid", false);
  $("city").setAttribute("aria-invalid", false);
  $("placeError").textContent = "";
  $("hereWords").textContent = Math.abs(state.place.lat) <= maxLat ? "" :
    `The map ends at ${maxLat} degrees: what lies beyond is drawn at its edge.`;
  clear();
  if (move || !map.sees(state.place)) map.moveTo(state.place);
}

// clear forgets what was shown for another place or level.
function clear() {
  Object.assign(state, { sticky: null, asked: 0, fresh: [], rows: null });
  render();
}

const wish = guarded((km, odds) => {
  const noise = ask("noise", { Km: km, Odds: odds });
  arrive();
  state.wish = { km, odds };
  state.noise = noise;
  clear();
  fit();
});

function fit() {
  map.fit(state.place, state.noise.R95 * 1.15);
}

// look shows an answer that lies outside of the map.
function look(p) {
  if (!map.sees(p)) map.fit(state.place, Math.max(state.noise.R95, distance(state.place, p)) * 1.15);
}

// valid says in words what is wrong with the numbers in some fields, if anything.
function valid(ids, words) {
  const wrong = ids.filter((id) => {
    const ok = $(id).value !== "" && $(id).checkValidity();
    $(id).setAttribute("aria-invalid", !ok);
    return !ok;
  });
  $(words).textContent = wrong.map((id) => `${names[id]}: want a number from ${$(id).min} to ${$(id).max}.`).join(" ");
  return wrong.length === 0;
}

const names = { lat: "Latitude", lon: "Longitude", km: "Distance in km", odds: "Factor of the odds" };

function average(points) {
  const degree = Math.PI / 180, sum = [0, 0, 0];
  for (const p of points) {
    sum[0] += Math.cos(p.lat * degree) * Math.cos(p.lon * degree);
    sum[1] += Math.cos(p.lat * degree) * Math.sin(p.lon * degree);
    sum[2] += Math.sin(p.lat * degree);
  }
  return { lat: Math.atan2(sum[2], Math.hypot(sum[0], sum[1])) / degree, lon: Math.atan2(sum[1], sum[0]) / degree };
}

function render() {
  const { noise, wish, sticky, fresh } = state;
  const middle = fresh.length > 1 ? average(fresh) : null;
  map.show = { place: state.place, alpha: noise.Alpha, r50: noise.R50, r95: noise.R95, sticky: sticky && place(sticky.Answer), fresh, average: middle, way: state.way };
  if (state.rows) {
    const { rows, chosen, list } = state.rows;
    if (rows[chosen].Probs) map.show.bubbles = list.map((c, k) => ({ place: c, share: rows[chosen].Probs[k] }));
  }
  map.draw();

  $("noise").textContent = `alpha = ln ${digits(wish.odds)} / ${digits(wish.km)} km = ${digits(noise.Alpha)} per km. Half of all answers lie within ${far(noise.R50)} of your place, 95 % within ${far(noise.R95)}.`;

  $("stickyWords").textContent = !sticky
    ? "Press a button twice: a sticky answer stays, a fresh one does not."
    : `Sticky: ${where(place(sticky.Answer), noise.Decimals)}, ${far(sticky.Moved)} from your place. ` +
      (state.asked < 2 ? "Press again: it stays." : `Asked ${state.asked} times, the same every time: who sees them all learns no more than from one.`) +
      (sticky.Spent === noise.Guarantee ? "" : ` All that you have released this way, other places and levels too: ${sticky.Spent}.`);
  $("freshWords").textContent = fresh.length === 0 ? "" : fresh.length === 1
    ? `Fresh: ${where(fresh[0], noise.Decimals)}, ${far(distance(state.place, fresh[0]))} from your place. Press again: it changes.`
    : `${fresh.length} fresh answers, the last ${where(fresh.at(-1), noise.Decimals)}. Their average is ${far(distance(state.place, middle))} from your place, and levels add: within ${digits(wish.km)} km the odds may change by a factor ${factor(wish.odds ** fresh.length)}.`;

  onTheWay();
  promise();
  $("snippet").value = sticky ? snippet(place(sticky.Answer), noise) : "Press “Sticky answer” first.";
  $("copy").disabled = !sticky;
  $("copied").textContent = "";
  table();
}

// report adds the place to the trail, or begins one.
const report = guarded(() => {
  const args = wished();
  if (!state.way) {
    const middle = map.middle();
    args.Center = { Lat: 10 * Math.round(middle.lat / 10), Lon: 10 * Math.round(middle.lon / 10) };
  }
  const r = ask("report", args);
  const first = !state.way;
  state.way ??= { walked: [], said: [] };
  state.way.walked.push(state.place);
  state.way.said.push(place(r.Answer));
  state.way.last = r;
  if (first) map.fit(state.place, Math.max(state.noise.R95, 16 / state.noise.Alpha));
  render();
});

// walk reports sixty places: a stay, a way that winds, and a stay.
function walk() {
  let left = 60, bearing = Math.random() * 2 * Math.PI;
  clearInterval(state.walking);
  state.walking = setInterval(() => {
    if (left > 15 && left <= 45) {
      bearing += (Math.random() - 0.5) * 0.8;
      const step = state.wish.km / 4 / 111.2;
      choose({ lat: state.place.lat + step * Math.cos(bearing), lon: state.place.lon + step * Math.sin(bearing) / Math.max(0.01, Math.cos(state.place.lat * Math.PI / 180)) });
    }
    report();
    if (--left === 0 || $("error").textContent) {
      clearInterval(state.walking);
      state.walking = 0;
      onTheWay();
    }
  }, 40);
  onTheWay();
}

// arrive ends the trail.
function arrive() {
  clearInterval(state.walking);
  Object.assign(state, { way: null, walking: 0 });
}

function onTheWay() {
  const { way, walking, wish } = state, r = way?.last;
  $("arrive").disabled = !way;
  $("walk").disabled = $("report").disabled = walking !== 0;
  $("reportWords").textContent = !r ? "Report, move, report again: a trail hides the way as a whole."
    : `${r.N} ${r.N === 1 ? "report" : "reports"}, the last ${where(place(r.Answer), 4)}, ${far(r.Moved)} from your place; noise of ${far(r.RMS)}. ` +
      `The way as a whole: ${r.Whole}, and odds change by a factor ${factor(wish.odds)} within ${far(wish.km)}. ` +
      `Where every report may be elsewhere: ${digits(r.Any)} per km; of ${r.N} fresh answers: ${digits(r.Anew)}.`;
}

function element(name, text, ...children) {
  const e = document.createElement(name);
  if (text) e.textContent = text;
  e.append(...children);
  return e;
}

function promise() {
  const { wish, noise } = state;
  const rows = [0.1, 1, 2, 10].map((times) => element("tr", "",
    element("td", far(times * wish.km)), element("td", factor(wish.odds ** times))));
  $("promise").replaceChildren(
    element("p", `The answer is ${noise.Guarantee}. Take anyone who sees it, whatever else they know, and two places that you might be at, ${far(wish.km)} apart. If they held the first for three times as likely as the second before, then after seeing the answer they hold it for ${digits(3 / wish.odds)} to ${digits(3 * wish.odds)} times as likely, and nothing beyond.`),
    element("table", "", element("caption", "What it means for other distances"),
      element("thead", "", element("tr", "", element("th", "two places apart"), element("th", "odds change by at most"))),
      element("tbody", "", ...rows)),
    element("p", "So it hides which house or town, and hardly which country, where that is far more than this distance. Sticky answers count once for each different place that you release, fresh ones every time; when you release a new place can be seen."),
    element("p", "The place with exact noise is rounded once, to a public grid, and then to the decimals shown: the promise holds for all digits of the answer."));
  $("promise").lastChild.className = "small";
}

// snippet is a script that makes a page see the answer.
function snippet(p, noise) {
  return `(() => { // ${noise.Guarantee}
  const fix = () => ({
    coords: {
      latitude: ${p.lat}, longitude: ${p.lon}, accuracy: ${Math.ceil(noise.R95 * 1000)},
      altitude: null, altitudeAccuracy: null, heading: null, speed: null,
    },
    timestamp: Date.now(),
  });
  const answer = (success) => { setTimeout(() => success(fix())); return 1; };
  Object.defineProperty(navigator, "geolocation", {
    configurable: true,
    value: { getCurrentPosition: (f) => { answer(f); }, watchPosition: answer, clearWatch() {} },
  });
})();`;
}

const compare = guarded(() => {
  const list = map.inView(most).map((k) => cities[k]);
  if (list.length < 2) throw new Error("fewer than two cities in view: zoom out");
  let at = 0;
  list.forEach((c, k) => { if (distance(c, state.place) < distance(list[at], state.place)) at = k; });
  const { Km, Odds } = wished();
  const rows = ask("compare", { Km, Odds, Places: list.map((c) => ({ Lat: c.lat, Lon: c.lon })), At: at });
  state.rows = { rows, list, at, chosen: 0 };
  render();
});

function table() {
  if (!state.rows) {
    $("table").replaceChildren();
    return;
  }
  const { rows, list, at, chosen } = state.rows;
  const body = rows.map((r, k) => {
    const radio = element("input");
    Object.assign(radio, { type: "radio", name: "shown", checked: k === chosen, disabled: !r.Probs });
    radio.addEventListener("change", () => { state.rows.chosen = k; render(); });
    const name = element("td", "", element("label", "", radio, ` ${r.Name}`));
    if (!r.Probs) {
      const why = element("td", r.Remark);
      why.colSpan = 4;
      return element("tr", "", name, why);
    }
    return element("tr", "", name, element("td", far(r.Mean)), element("td", far(r.Worst)),
      element("td", `${digits(100 * r.Probs[at], 2)} %`), element("td", digits(r.Level, 3)));
  });
  const focused = document.activeElement?.name === "shown";
  $("table").replaceChildren(element("table", "",
    element("caption", `${list.length} cities; your place counts as the nearest of them, ${list[at].name}, and the promise is about cities. The map shows how the chosen mechanism answers for it: a disc's area is the probability.`),
    element("thead", "", element("tr", "", ...["mechanism", "mean loss", "worst", `says ${list[at].name}`, "level per km"].map((h) => element("th", h)))),
    element("tbody", "", ...body)));
  if (focused) $("table").querySelector("input:checked")?.focus();
}

function wire() {
  map.onclick = (p) => choose(p);
  $("in").addEventListener("click", () => map.zoom(1.6));
  $("out").addEventListener("click", () => map.zoom(1 / 1.6));
  $("fit").addEventListener("click", fit);
  for (const id of ["lat", "lon"]) {
    $(id).addEventListener("change", () => {
      if (valid(["lat", "lon"], "placeError")) choose({ lat: Number($("lat").value), lon: Number($("lon").value) }, { move: true });
    });
  }
  const byName = new Map(cities.toReversed().map((c) => [c.full, c])); // the largest of a name
  $("cities").append(...[...byName.keys()].reverse().map((name) => Object.assign(element("option"), { value: name })));
  const plain = (s) => s.normalize("NFD").replace(/\p{M}/gu, "").trim().toLowerCase();
  $("city").addEventListener("input", () => {
    const c = byName.get($("city").value);
    if (c) choose(c, { move: true });
  });
  $("city").addEventListener("change", () => { // typed, and perhaps no suggestion
    const typed = plain($("city").value);
    const known = byName.has($("city").value) || typed === "";
    const c = known ? null : cities.find((c) => plain(c.full) === typed || plain(c.name) === typed);
    if (c) {
      $("city").value = c.full;
      choose(c, { move: true });
    }
    $("city").setAttribute("aria-invalid", !known && !c);
    $("placeError").textContent = known || c ? "" : "No city of this name is known here: choose a suggestion, or click the map. Your place has not changed.";
  });
  $("here").addEventListener("click", () => {
    navigator.geolocation.getCurrentPosition(
      guarded((fix) => {
        // To a public grid of about a tenth of the distance: the device's own errors
        // would make a new place, and a new answer, of every fix.
        const tens = 10 ** Math.max(0, Math.min(5, Math.floor(-Math.log10(state.wish.km / 10 / 111))));
        choose({ lat: Math.round(fix.coords.latitude * tens) / tens, lon: Math.round(fix.coords.longitude * tens) / tens }, { move: true });
        $("hereWords").textContent = `Your position, rounded to ${digits(1 / tens)} degrees so that small errors of the device make no new places. The promise is about rounded places.`;
      }),
      (e) => { $("error").textContent = `no position: ${e.message}`; });
  });

  const typed = () => {
    if (valid(["km", "odds"], "wishError")) {
      $("slide").value = Math.log10(Number($("km").value));
      wish(Number($("km").value), Number($("odds").value));
    }
  };
  $("km").addEventListener("change", typed);
  $("odds").addEventListener("change", typed);
  $("slide").addEventListener("input", () => {
    $("km").value = Number((10 ** Number($("slide").value)).toPrecision(2));
    $("slide").setAttribute("aria-valuetext", `${$("km").value} km`);
    valid(["km", "odds"], "wishError");
    wish(Number($("km").value), state.wish.odds);
  });
  $("slide").value = Math.log10(state.wish.km);

  const release = guarded(() => {
    state.sticky = ask("sticky", wished());
    state.asked++;
    render();
    look(place(state.sticky.Answer));
  });
  const fresh = (times) => guarded(() => {
    state.fresh = state.fresh.concat(ask("fresh", { ...wished(), Times: times }).Answers.map(place));
    render();
    look(state.fresh.at(-1));
  });
  $("sticky").addEventListener("click", release);
  $("fresh").addEventListener("click", fresh(1));
  $("many").addEventListener("click", fresh(50));
  $("forget").addEventListener("click", guarded(() => {
    ask("forget");
    clear();
    $("stickyWords").textContent = "Forgotten. Whoever has the old answers has them still: the levels of new ones add to theirs.";
  }));
  $("compare").addEventListener("click", compare);
  $("report").addEventListener("click", report);
  $("walk").addEventListener("click", walk);
  $("arrive").addEventListener("click", () => { arrive(); render(); });
  $("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText($("snippet").value);
      $("copied").textContent = "copied";
    } catch {
      $("snippet").select();
      $("copied").textContent = "selected: copy it by Ctrl+C";
    }
  });

  $("map").addEventListener("keydown", (e) => {
    const step = { ArrowUp: [0, -20], ArrowDown: [0, 20], ArrowLeft: [-20, 0], ArrowRight: [20, 0] }[e.key];
    if (step) {
      const [px, py] = map.pixel(state.place);
      choose(map.placeAt(px + step[0], py + step[1]));
    } else if (e.key === "+" || e.key === "=") map.zoom(1.6);
    else if (e.key === "-") map.zoom(1 / 1.6);
    else if (e.key === "Enter") release();
    else return;
    e.preventDefault();
  });
  for (const id of ["sticky", "fresh", "many", "forget", "compare", "report", "walk"]) $(id).disabled = false;
}

try {
  const loaded = await start();
  cities = loaded.cities;
  map = new WorldMap($("map"), loaded.outlines, cities);
  state.noise = ask("noise", { Km: state.wish.km, Odds: state.wish.odds });
  wire();
  choose({ lat: 50.8467, lon: 4.3525 }); // a square in Brussels
  fit();
  document.body.dataset.ready = "yes";
} catch (e) {
  $("error").textContent = `The page could not start: ${e.message}`;
  throw e;
}
