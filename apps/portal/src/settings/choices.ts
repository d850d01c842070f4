import { CURRENCIES } from '@app/people';

const NAMES = new Intl.DisplayNames('en', { type: 'currency' });

const ZONES = Intl.supportedValuesOf('timeZone');

/** The zones by what their names begin with. @param current also if it is another name of one */
export function timeZones(current: string): [area: string, zones: string[]][] {
  const all = ZONES.includes(current) ? ZONES : [...ZONES, current].sort();
  return [...Map.groupBy(all, (zone) => zone.split('/')[0]!)];
}

/** The currencies that an organization can have, by name. @param current also if new ones cannot have it */
export function currencies(current: string): { code: string; name: string }[] {
  const codes = new Set([...CURRENCIES, current]);
  return [...codes].map((code) => ({ code, name: NAMES.of(code)! })).sort((a, b) => a.name.localeCompare(b.name, 'en'));
}
