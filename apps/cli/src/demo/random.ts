/** Numbers that look random and are the same for the same seed, everywhere. Not for secrets. */
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

  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.next() % list.length]!;
  }
}

/** A number that stands for a text, for use as a seed. */
export function hash(text: string, seed: number): number {
  let value = mix(seed ^ 0x9e3779b9);
  for (let place = 0; place < text.length; place++) value = mix(value ^ text.charCodeAt(place));
  return value;
}

/** Scatters 32 bits; no two numbers end as the same. */
export function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** A UUID of version 7: its time, and otherwise made of the salt and the index. Different for each index of a salt. */
export function uuidFrom(salt: number, index: number, at: number): string {
  const time = at.toString(16).padStart(12, '0');
  const scattered = hex(mix(salt + Math.imul(index, 0x9e3779b1)));
  const variant = '89ab'[mix(index ^ ~salt) & 3]!;
  const unique = hex(mix(index ^ salt));
  return `${time.slice(0, 8)}-${time.slice(8)}-7${scattered.slice(0, 3)}-${variant}${scattered.slice(3, 6)}-${hex(mix(salt ^ 0x5bd1e995)).slice(0, 2)}${scattered.slice(6)}${unique}`;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
