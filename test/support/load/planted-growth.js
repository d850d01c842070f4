/** Preloaded into an API process: plants the bug that PLANTED names in how every text of a body is checked, for the growth test to catch. */
const { isWellFormed } = String.prototype;

const PLANTS = {
  time: (text) => {
    for (let from = 0; from < text.length; from++) for (let at = from; at < text.length; at += 4) text.charCodeAt(at);
  },
  hold: (text) => {
    for (let time = 0; time < 80_000; time++) for (let at = 0; at < text.length; at += 4) text.charCodeAt(at);
  },
  memory: (text) => Buffer.alloc(Math.min(text.length ** 2 / 2, 400_000_000), 1),
};

String.prototype.isWellFormed = function (...args) {
  PLANTS[process.env.PLANTED](String(this));
  return Reflect.apply(isWellFormed, this, args);
};
