// Mutates one room for test-mutation.js: `mutate-room.js <room> [<lines> <seed>]`.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';
import { ROOMS } from '../test/mutation/rooms.ts';

/** Long enough for most functions: a mutant is tried only if it lies within one stretch. */
const STRETCH = 25;

const [room, lines, seed] = process.argv.slice(2);
// Results of the whole room would count as part of a sample.
const report = `reports/mutation/${room.replaceAll('/', '-')}${lines ? `-${lines}-${seed}` : ''}`;

/** Stretches of the room's files with as many lines together, in an order that the seed decides. */
function sample(patterns) {
  const stretches = globSync(patterns).flatMap((file) => {
    const count = readFileSync(file, 'utf8').split('\n').length;
    return Array.from({ length: Math.ceil(count / STRETCH) }, (_, index) => {
      const from = index * STRETCH + 1;
      const to = Math.min(count, from + STRETCH - 1);
      return { range: `${file}:${from}-${to}`, lines: to - from + 1 };
    });
  });
  const rank = ({ range }) => createHash('sha256').update(`${seed} ${range}`).digest('hex');
  const drawn = [];
  let rest = Number(lines);
  for (const stretch of stretches.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    if (rest <= 0) break;
    drawn.push(stretch.range);
    rest -= stretch.lines;
  }
  return drawn;
}

try {
  const results = await new Stryker({
    mutate: lines ? sample(ROOMS[room].mutate) : ROOMS[room].mutate,
    incrementalFile: `${report}.json`,
    htmlReporter: { fileName: `${report}.html` },
  }).runMutationTest();
  const counts = {};
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1;
  process.send(counts);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
process.disconnect();
