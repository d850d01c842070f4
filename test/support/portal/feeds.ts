import { sync, type VEvent } from 'node-ical';
import type { TestPortal } from './portal.js';

export type FeedEvent = VEvent & { sequence?: string };

/** Makes somebody's calendar address in an organization. @returns its path */
export async function feedOf(portal: TestPortal, userId: string, organizationId: string): Promise<string> {
  const [organization] = await portal.make.query<{ slug: string }>('SELECT slug FROM organizations WHERE id = $1', [organizationId]);
  const { text } = await portal.post('/account/calendar/make', { organization: organization!.slug }, await portal.session(userId)).expect(200);
  return /\/calendar\/[\w-]{43}\.ics/.exec(text)![0];
}

/** What a calendar program reads there: nothing but instants, no zone and no day without a time. */
export async function eventsAt(portal: TestPortal, path: string): Promise<FeedEvent[]> {
  const { text } = await portal.get(path).expect(200);
  for (const line of text.split('\r\n')) if (/^DT(START|END)/.test(line)) expect(line).toMatch(/^DT(START|END):\d{8}T\d{6}Z$/);
  return Object.values(sync.parseICS(text)).filter((one): one is FeedEvent => one?.type === 'VEVENT');
}

/** A calendar program that follows an address: a lesson is the same event for ever, and what is new has a higher number. */
export class Follower {
  private readonly seen = new Map<string, { sequence: number; text: string }>();

  private constructor(
    private readonly portal: TestPortal,
    private readonly path: string,
  ) {}

  static async of(portal: TestPortal, userId: string, organizationId: string): Promise<Follower> {
    return new Follower(portal, await feedOf(portal, userId, organizationId));
  }

  /** When the lessons begin that are not cancelled. */
  async read(): Promise<string[]> {
    const events = await eventsAt(this.portal, this.path);
    expect(new Set(events.map(({ uid }) => uid)).size).toBe(events.length);
    for (const { uid, sequence = '0', status, start, end } of events) {
      const [before, now] = [this.seen.get(uid), { sequence: Number(sequence), text: JSON.stringify([status, start, end]) }];
      if (before) expect([uid, now.sequence - before.sequence >= (before.text === now.text ? 0 : 1)]).toEqual([uid, true]);
      this.seen.set(uid, now);
    }
    return events.filter(({ status }) => status !== 'CANCELLED').map(({ start }) => new Date(start).toISOString()).sort(); // prettier-ignore
  }
}
