/** Preloaded into an API process: plants the bug that PLANTED names, for the growth test to catch. */
const { isWellFormed } = String.prototype;
const { keys } = Object;

/** Bugs in how every text of a body is checked. */
const TEXTS = {
  time: (text) => {
    for (let from = 0; from < text.length; from++) for (let at = from; at < text.length; at += 4) text.charCodeAt(at);
  },
  hold: (text) => {
    for (let time = 0; time < 80_000; time++) for (let at = 0; at < text.length; at += 4) text.charCodeAt(at);
  },
  memory: (text) => Buffer.alloc(Math.min(text.length ** 2 / 2, 400_000_000), 1),
  failure: (text) => {
    if (text.length > 10_000) throw new RangeError('Maximum call stack size exceeded');
  },
};

const planted = process.env.PLANTED;

if (planted in TEXTS) {
  String.prototype.isWellFormed = function (...args) {
    TEXTS[planted](String(this));
    return Reflect.apply(isWellFormed, this, args);
  };
} else {
  // The quadratic way in which class-transformer handles names.
  Object.keys = (object) => {
    const names = keys(object);
    for (let time = 0; time < 8; time++) names.every((name, at) => names.findIndex((other) => other === name) === at);
    return names;
  };
}
