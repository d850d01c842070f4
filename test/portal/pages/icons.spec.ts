import { readFileSync } from 'node:fs';
import { TestPortal } from '../../support/portal/portal.js';

/** The icon of each area of somebody's own pages. Those of managers have no room for any in their 60 kB. */
const NAMES: Record<string, string> = {
  Lessons: 'calendar-days',
  Learning: 'book-open',
  Money: 'banknote',
  Pay: 'wallet',
  Claims: 'receipt',
  Hours: 'clock',
};

/** What is inside an icon of 24 by 24, on one line. */
const inside = (name: string) =>
  /<svg[^>]*>(.*)<\/svg>/s
    .exec(readFileSync(new URL(`../../../node_modules/lucide-static/icons/${name}.svg`, import.meta.url), 'utf8'))![1]!
    .replaceAll(/\s*\n\s*/g, '')
    .replaceAll(' />', '/>');

it('icons are those of Lucide, one for each area', async () => {
  const own = (await TestPortal.shared()).routes().filter(({ path }) => path.startsWith('/my/'));
  const areas = new Set(own.flatMap(({ navigation }) => navigation?.area ?? []));
  expect([...areas].sort()).toEqual(Object.keys(NAMES).sort());
  const entries = Object.entries(NAMES).map(([what, name]) => `  ${what}: '${inside(name)}',\n`);
  const source = `// Written by \`npm run icons\` from lucide-static. Do not edit.
// Copyright (c) 2026 Lucide Icons and Contributors (ISC), some of them (c) 2013-present Cole Bemis (MIT): https://lucide.dev/license

/** What is inside the icons, which are lines in 24 by 24. */
// prettier-ignore
export const ICONS = {
${entries.join('')}} as const;
`;
  await expect(source).toMatchFileSnapshot('../../../apps/portal/src/web/icons.ts');
});
