// Mutation tests: `npm run test:mutation` for all rooms, `npm run test:mutation -- libs/jobs` for some of them.
import { Stryker } from '@stryker-mutator/core';
import { ROOMS } from '../test/mutation/rooms.ts';

const asked = process.argv.slice(2);
const unknown = asked.filter((room) => !(room in ROOMS));
if (unknown.length > 0) {
  console.error(`No such room: ${unknown.join(', ')}. Choose from: ${Object.keys(ROOMS).join(', ')}.`);
  process.exit(1);
}
for (const room of asked.length > 0 ? asked : Object.keys(ROOMS)) {
  process.env.MUTATION_ROOM = room;
  console.log(`\n${room}`);
  const folder = `reports/mutation/${room.replaceAll('/', '-')}`;
  try {
    await new Stryker({
      mutate: ROOMS[room].mutate,
      incrementalFile: `${folder}.json`,
      htmlReporter: { fileName: `${folder}.html` },
    }).runMutationTest();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
