import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';

/** Where the middle of a postcode is. */
export interface Point {
  lat: number;
  lng: number;
}

/** A drive: kilometers to a tenth, and minutes. */
export type Drive = readonly [km: number, minutes: number];

/** The routing service gave no road times. The message is a code: an answer may repeat what was asked. */
export class NoRoadTimes extends Error {}

/** Places in one call: OSRM's default limit, which also keeps the URL short enough for proxies. */
const MOST_POINTS = 100;

/** What 100 road times take is a few kilobytes. */
const MOST_BYTES = 262_144;

/** Meters or seconds. Nothing on Earth is farther. */
const MOST = 100_000_000;

/** The operator's routing service, which speaks the HTTP API of OSRM. It is sent coordinates of postcodes and nothing else. */
@Injectable()
export class RoutingService {
  private readonly url: string | null;

  constructor(env: Env) {
    this.url = env.get('ROUTING_URL');
  }

  get enabled(): boolean {
    return this.url !== null;
  }

  /** @returns the fastest drive to each place; null if no road leads there @throws NoRoadTimes */
  async drives(from: Point, to: readonly Point[], signal: AbortSignal): Promise<(Drive | null)[]> {
    const found: (Drive | null)[] = [];
    for (let at = 0; at < to.length; at += MOST_POINTS - 1) {
      found.push(...(await this.table(from, to.slice(at, at + MOST_POINTS - 1), signal)));
    }
    return found;
  }

  private async table(from: Point, to: readonly Point[], signal: AbortSignal): Promise<(Drive | null)[]> {
    const points = [from, ...to].map(({ lat, lng }) => `${lng.toFixed(5)},${lat.toFixed(5)}`);
    const options = 'sources=0&annotations=duration,distance&generate_hints=false';
    let text: string;
    try {
      // Not where a redirect leads: the operator named this address.
      const response = await fetch(`${this.url}/table/v1/driving/${points.join(';')}?${options}`, {
        headers: { Accept: 'application/json', 'User-Agent': 'tutoring-api' },
        redirect: 'manual',
        signal,
      });
      text = await bounded(response);
      if (response.status !== 200) throw new NoRoadTimes(`http_${response.status}`);
    } catch (error) {
      if (error instanceof NoRoadTimes) throw error;
      const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
      throw new NoRoadTimes(signal.aborted ? 'timeout' : typeof code === 'string' ? code : 'connection_failed');
    }
    return drivesIn(text, to.length);
  }
}

/** @throws NoRoadTimes */
async function bounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > MOST_BYTES) throw new NoRoadTimes('answer_too_long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The first row of both tables, without the way from the first place to itself. @throws NoRoadTimes */
function drivesIn(text: string, count: number): (Drive | null)[] {
  const { code, durations, distances } = parsed(text);
  const [seconds, meters] = [rowOf(durations, count), rowOf(distances, count)];
  if (code !== 'Ok' || !seconds || !meters) throw new NoRoadTimes('not_a_table');
  return seconds.map((value, at) => {
    const way = meters[at] ?? null;
    return value === null || way === null ? null : [Math.round(way / 100) / 10, Math.round(value / 60)];
  });
}

function parsed(text: string): { code?: unknown; durations?: unknown; distances?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    throw new NoRoadTimes('not_json');
  }
}

function rowOf(table: unknown, count: number): (number | null)[] | null {
  const row: unknown = Array.isArray(table) ? table[0] : null;
  const fits = (value: unknown) => value === null || (typeof value === 'number' && value >= 0 && value <= MOST);
  return Array.isArray(row) && row.length === count + 1 && row.every(fits) ? row.slice(1) : null;
}
