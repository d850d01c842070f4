import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../../apps/cli/src/program.js';
import { ImportError } from '../../apps/cli/src/import/faults.js';
import { importPlaces, storePlaces } from '../../apps/cli/src/import/places.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());
const folder = await mkdtemp(join(tmpdir(), 'tutoring-places-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function load(text: string): Promise<number> {
  const path = join(folder, 'places.csv');
  await writeFile(path, text);
  return importPlaces(schema.urls.ownerUrl, path);
}
const faultsOf = (text: string) =>
  load(text).then(
    () => [],
    (error: unknown) => {
      if (!(error instanceof ImportError)) throw error;
      return error.message.split('\n');
    },
  );
const stored = () => schema.all('SELECT postcode, suburb, lat, lng FROM places ORDER BY postcode');

describe('places', () => {
  it('are stored from a CSV file: the first of a postcode, whatever other columns there are', async () => {
    const text = `\uFEFFid,Postcode,Suburb,State,lat,lng\r\n1,9001,"Northside, ""old""",VIC,-37.5,145\r\n2,9001,Other,VIC,1,1\r\n\r\n3,9002,,VIC,90,-180`;
    expect(await load(text)).toBe(2);
    expect(await stored()).toEqual([
      { postcode: '9001', suburb: 'Northside, "old"', lat: -37.5, lng: 145 },
      { postcode: '9002', suburb: null, lat: 90, lng: -180 },
    ]);
  });

  it('are replaced by another file, and stay if it lacks them; a demo replaces none', async () => {
    expect(await load('postcode,lat,lng\n9002,1,2\n9003,3,4')).toBe(2);
    await storePlaces(schema.urls.ownerUrl, [{ postcode: '9003', suburb: 'Elsewhere', lat: 0, lng: 0 }]);
    expect((await stored()).map(({ postcode, lat }) => [postcode, lat])).toEqual([
      ['9001', -37.5],
      ['9002', 1],
      ['9003', 3],
    ]);
  });

  it('are the same in capitals and with other spaces, and shown as the last file has them', async () => {
    expect(await load('postcode,lat,lng\nsw1a 1aa,1,1\nSW1A1AA,2,2')).toBe(1);
    expect(await load('postcode,lat,lng\nSW1A  1AA,3,3')).toBe(1);
    expect(await schema.all(`DELETE FROM places WHERE postcode ILIKE 'sw%' RETURNING postcode, lat`)).toEqual([{ postcode: 'SW1A  1AA', lat: 3 }]);
  });

  it.each([
    ['', ['places.csv: has no line of headings']],
    ['postcode,suburb\n9009,x', ['places.csv:1: lat: is missing from the headings', 'places.csv:1: lng: is missing from the headings']],
    ['postcode,lat,lng\n9009,1,1\n,1,1', ['places.csv:3: postcode: must not be empty']],
    ['postcode,lat,lng\n9009,91,1', ['places.csv:2: lat: must be degrees from -90 to 90']],
    ['postcode,lat,lng\n9009,1,east', ['places.csv:2: lng: must be degrees from -180 to 180']],
    ['postcode,lat,lng\n9009,1', ['places.csv:2: lng: must be degrees from -180 to 180']],
    ['postcode,lat,lng\n"9009,1,1', ['places.csv:2: has a quote that is not closed, or one inside a value']],
    [`postcode,lat,lng\n${'9'.repeat(21)},1,1`, ['places.csv:2: postcode: must have at most 20 characters, none of them for control']],
  ])('in a file like %j are refused, and nothing is stored', async (text, faults) => {
    expect(await faultsOf(text)).toEqual(faults);
    expect((await stored()).map(({ postcode }) => postcode)).not.toContain('9009');
  });

  it('are a command of their own beside the import of a folder', () => {
    const importing = createProgram().commands.find((command) => command.name() === 'import')!;
    expect(importing.commands.map((command) => command.name())).toEqual(['places']);
  });
});
