import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROMISES } from './support/faults/promises.js';

describe('the table of promises', () => {
  it('has every row once, in order', () => {
    expect(PROMISES.map(({ row }) => row)).toEqual(Array.from({ length: 47 }, (_, index) => index + 1));
  });

  it('names specs that exist', () => {
    const missing = PROMISES.flatMap(({ row, specs }) =>
      specs
        .filter((spec) => !existsSync(fileURLToPath(new URL(`${spec}.spec.ts`, import.meta.url))))
        .map((spec) => `${row}: ${spec}`),
    );
    expect(missing).toEqual([]);
  });
});
