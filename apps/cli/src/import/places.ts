import { basename } from 'node:path';
import { isStorable } from '@app/database';
import { withClient } from '../postgres/client.js';
import { Faults } from './faults.js';
import { BadLine, readLines } from './lines.js';

/** Where a postcode is, about. */
export interface StoredPlace {
  postcode: string;
  suburb: string | null;
  lat: number;
  lng: number;
}

const NEEDED = ['postcode', 'lat', 'lng'];

/** Rows for each statement. */
const BATCH = 5_000;

/**
 * Stores the places of a CSV file with a line of headings; other columns than those of places are ignored. Of several lines with
 * one postcode, however it is spelled, the first counts. Places that are stored already are replaced, and those that the file lacks stay.
 *
 * @returns how many places it holds @throws ImportError, having stored nothing
 */
export async function importPlaces(url: string, path: string): Promise<number> {
  const faults = new Faults();
  const places = await readPlaces(path, faults);
  faults.check();
  await storePlaces(
    url,
    places,
    'UPDATE SET postcode = excluded.postcode, suburb = excluded.suburb, lat = excluded.lat, lng = excluded.lng',
  );
  return places.length;
}

/** Stores places. @param conflict what to do with those that are stored already, in SQL */
export async function storePlaces(url: string, places: readonly StoredPlace[], conflict = 'NOTHING'): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('BEGIN');
    for (let from = 0; from < places.length; from += BATCH) {
      await client.query(
        `INSERT INTO places (postcode, suburb, lat, lng)
          SELECT postcode, suburb, lat, lng FROM jsonb_populate_recordset(NULL::places, $1) ON CONFLICT (compact) DO ${conflict}`,
        [JSON.stringify(places.slice(from, from + BATCH))],
      );
    }
    await client.query('COMMIT');
  });
}

async function readPlaces(path: string, faults: Faults): Promise<StoredPlace[]> {
  const file = basename(path);
  /** By postcode, as it is compared. */
  const places = new Map<string, StoredPlace>();
  let headings: string[] | null = null;
  for await (const { first, lines } of readLines(path)) {
    for (const [index, line] of lines.entries()) {
      const fail = (field: string | null, message: string) => faults.add(file, first + index, field, message);
      const values = line instanceof BadLine ? line.problem : valuesOf(line);
      if (typeof values === 'string') fail(null, values);
      else if (headings === null) {
        headings = values.map((name) => name.toLowerCase());
        for (const name of NEEDED) if (!headings.includes(name)) fail(name, 'is missing from the headings');
        if (faults.count > 0) return [];
      } else if (values.length > 1 || values[0] !== '') {
        const row = new Map(headings.map((name, place) => [name, values[place] ?? '']));
        const place = placeOf(row, fail);
        const compact = place?.postcode.replaceAll(' ', '').toUpperCase();
        if (compact && !places.has(compact)) places.set(compact, place!);
      }
    }
  }
  if (headings === null) faults.add(file, 0, null, 'has no line of headings');
  return [...places.values()];
}

/** Completes a quoted or a plain value, and the comma after it. */
const VALUE = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** The values of a line of CSV, or what is wrong with it. */
function valuesOf(line: string): string[] | string {
  const text = line.replace(/\r$/, '');
  const values: string[] = [];
  for (VALUE.lastIndex = 0; ;) {
    const match = VALUE.exec(text);
    if (!match) return 'has a quote that is not closed, or one inside a value';
    values.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim());
    if (match[3] === '') return values;
  }
}

function placeOf(row: Map<string, string>, fail: (field: string, message: string) => void): StoredPlace | null {
  const text = (name: string, most: number) => {
    const value = row.get(name) ?? '';
    if (value.length > most || !isStorable(value))
      fail(name, `must have at most ${most} characters, none of them for control`);
    return value;
  };
  const degrees = (name: string, most: number) => {
    const value = row.get(name)!;
    const number = /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
    if (!(Math.abs(number) <= most)) fail(name, `must be degrees from -${most} to ${most}`);
    return number;
  };
  const [postcode, suburb] = [text('postcode', 20), text('suburb', 200)];
  if (postcode === '') fail('postcode', 'must not be empty');
  const [lat, lng] = [degrees('lat', 90), degrees('lng', 180)];
  const valid = postcode !== '' && !Number.isNaN(lat) && !Number.isNaN(lng);
  return valid ? { postcode, suburb: suburb || null, lat, lng } : null;
}
