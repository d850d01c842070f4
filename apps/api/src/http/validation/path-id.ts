import { Param } from '@nestjs/common';
import type { IdNames } from '@app/audit';
import { canonicalUuid } from '@app/database';

/** The id of no record. */
const NO_RECORD = '00000000-0000-0000-0000-000000000000';

/** Treats a malformed id as the id of no record, which takes the same path to the same 404. */
export const toUuid: { transform: (text: string) => string } = {
  transform: (text) => canonicalUuid(text) ?? NO_RECORD,
};

/** The id in a path, as a canonical UUID. */
export const PathId = (name: string) => Param(name, toUuid);

/** The names of a path's parameters. */
export const idsIn = <Path extends string>(path: Path) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as IdNames<Path>);

/** The ids of a path by the names of its parameters. */
export const byName = <Name extends string>(names: Name[], ids: string[]) =>
  Object.fromEntries(names.map((name, at) => [name, ids[at]!])) as Record<Name, string>;
