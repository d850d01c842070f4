/** Pseudorandom numbers from a seed, the same everywhere. Not for secrets. */
export class Random {
  constructor(private state: number) {}

  /** An integer from 0 to 2^32 - 1 (the generator "mulberry32"). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + (this.next() % (most - least + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.next() % list.length]!;
  }
}

/** A text's hash, for use as a seed. */
export function hash(text: string, seed: number): number {
  let value = mix(seed ^ 0x9e3779b9);
  for (let place = 0; place < text.length; place++) value = mix(value ^ text.charCodeAt(place));
  return value;
}

/** A bijective hash of 32 bits. */
export function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** A lookup table for four hexadecimal digits: demos may need millions of ids. */
const HEX = Array.from({ length: 0x10000 }, (_, value) => value.toString(16).padStart(4, '0'));

/** A version 7 UUID from a time, and from a salt and an index. Indexes with the same salt never collide. */
export function uuidFrom(salt: number, index: number, at: number): string {
  const time = Math.floor(at / 0x10000);
  const scattered = mix(salt + Math.imul(index, 0x9e3779b1));
  const unique = mix(index ^ salt);
  const version = low(0x7000 | (scattered & 0xfff));
  const variant = low(0x8000 | ((scattered >>> 16) & 0x3fff));
  const end = `${low(mix(salt ^ 0x5bd1e995))}${high(unique)}${low(unique)}`;
  return `${high(time)}${low(time)}-${low(at % 0x10000)}-${version}-${variant}-${end}`;
}

function high(value: number): string {
  return HEX[value >>> 16]!;
}

function low(value: number): string {
  return HEX[value & 0xffff]!;
}
