import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROMISES } from './support/faults/promises.js';

describe('the table of promises', () => {
  it('has each row once, in order', () => {
    const rows = PROMISES.map(({ row }) => row);
    expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b));
  });

  it('names specs that exist', () => {
    const missing = PROMISES.flatMap(({ row, specs }) =>
      specs.filter((spec) => !existsSync(fileURLToPath(new URL(`${spec}.spec.ts`, import.meta.url)))).map((spec) => `${row}: ${spec}`),
    );
    expect(missing).toEqual([]);
  });
});
