import type { Type } from '@nestjs/common';
import type { RecordOperation, RecordPath } from '@app/audit';
import { VALUES } from '@app/database';
import type { Scope } from '@app/access';
import { FIELDS, type Kind, kinds } from '@app/fields';
import { Rows, type RowTable, type Values } from '@app/rows';
import type { ConflictCode } from '../errors/api-error.js';
import { declare, type RecordSet } from '../lists/source.js';
import { bodyField, type Presence } from '../validation/fields.js';
import { recordController } from './read-controllers.js';
import { writeController } from './write-controller.js';

/** A field of the requests, called like its column. */
interface RowField extends Presence {
  /** If neither `FIELDS`, nor the column's CHECK, nor a reference says it. */
  kind?: Kind;
  /** It cannot be changed. */
  fixed?: boolean;
}

/** Rows without a rule of their own, or with one that extends `Rows`: declared, to be read one by one, created, changed and deleted. */
export interface RowsDeclaration<Path extends RecordPath> {
  path: Path;
  /** As in "a rate band". */
  noun: string;
  kind: RowTable;
  /** Who decides more than the database does. */
  rule?: Type<Rows>;
  /** What it refuses to change or delete, beside what the table says. */
  conflicts?: readonly ConflictCode[];
  /** One, or all of several; or one of several that depends on what a row says. */
  scope: Scope | [Scope, ...Scope[]] | { anyOf: [Scope, Scope, ...Scope[]]; of: (row: object) => Scope[] };
  /** Of PATCH, where it is another one. */
  scopeToChange?: Scope | [Scope, ...Scope[]];
  /** What is answered: the list's declaration. */
  shown: RecordSet;
  /** What can be changed, if it is not all that is shown. */
  own?: RecordSet;
  fields: Record<string, RowField>;
  /** Of the bodies of POST and PATCH. */
  examples: { create: object; change: object };
  /** What else a caller must know, in Markdown. */
  notes?: { read?: string; create?: string; change?: string; remove?: string };
  /** Those of the four that are declared elsewhere, or that there are not. */
  without?: readonly ('read' | 'create' | 'change' | 'remove')[];
}

/** All that are declared, for the tests. */
export const DECLARED: RowsDeclaration<RecordPath>[] = [];

/** The controllers of rows: their GET, POST, PATCH and DELETE. */
export function rows<Path extends RecordPath>(declaration: RowsDeclaration<Path>): Type[] {
  const {
    path,
    noun,
    kind,
    rule = Rows,
    scope,
    shown,
    own = shown,
    fields,
    examples,
    notes = {},
    without = [],
  } = declaration;
  const [list, idName] = path.split('/:') as [string, string];
  const verb = (name: string) => `${name}_${noun.replaceAll(' ', '_')}`;
  const a = `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
  const shared = { rules: [rule] as [Type<Rows>], versions: own };
  // Before `If-Match` locks the row: whoever sends none takes the locks in this order.
  const first = ({ organizationId }: { organizationId: string }, rows: Rows) => rows.begin(organizationId, kind);
  const conflicts: ConflictCode[] = [
    ...(declaration.conflicts ?? []),
    ...(kind.states ? ['invalid_state' as const] : []),
  ];
  const [ofBody, ofRow] =
    typeof scope === 'string' || Array.isArray(scope)
      ? [scope, scope]
      : [
          { anyOf: scope.anyOf, by: scope.of },
          { anyOf: scope.anyOf, byStored: scope.of },
        ];
  const one = `v1/${path}`;
  const read = notes.read === undefined ? {} : { description: notes.read };
  DECLARED.push(declaration);
  // What a write was before, to tell a key that may not read what it changed.
  declare(own);

  const parts = {
    read: () => recordController({ ...shown, ...read, id: verb('get'), path: one, summary: `Returns one ${noun}` }),
    create: () =>
      writeController({
        ...shared,
        id: verb('create'),
        scope: ofBody,
        route: `POST /v1/${list}` as RecordOperation<Path>,
        summary: `Creates ${a}`,
        description: notes.create,
        example: examples.create,
        conflicts: kind.most === undefined ? [] : ['too_many'],
        body: requestClass('Create', noun, kind, fields),
        answers: own,
        idName,
        run: ({ organizationId, body }, rows) => rows.add(organizationId, kind, body as Values),
      }),
    change: () =>
      writeController({
        ...shared,
        id: verb('update'),
        scope: declaration.scopeToChange ?? ofRow,
        route: `PATCH /v1/${path}` as RecordOperation<Path>,
        summary: `Changes ${a}`,
        description: ['Omitted fields stay unchanged.', notes.change].filter(Boolean).join(' '),
        example: examples.change,
        conflicts,
        body: requestClass('Update', noun, kind, fields),
        answers: own,
        first,
        run: ({ organizationId, ids, body }, rows) => rows.change(organizationId, kind, idIn(ids), body as Values),
      }),
    remove: () =>
      writeController({
        ...shared,
        id: verb('remove'),
        scope: ofRow,
        route: `DELETE /v1/${path}` as RecordOperation<Path>,
        summary: `Deletes ${a}`,
        description: ['409 `still_referenced` if another record names it.', notes.remove].filter(Boolean).join(' '),
        conflicts: [...new Set<ConflictCode>([...conflicts, 'still_referenced'])],
        answers: null,
        first,
        run: ({ organizationId, ids }, rows) => rows.remove(organizationId, kind, idIn(ids)),
      }),
  };
  const wanted = Object.entries(parts).filter(([name]) => !without.includes(name as keyof typeof parts));
  return wanted.map(([, controller]) => controller());
}

const idIn = (ids: Record<string, string>) => Object.values(ids)[0]!;

/** The class of a request: of a change, in which everything can be left out. */
function requestClass(
  of: 'Create' | 'Update',
  noun: string,
  { table, references = {} }: RowTable,
  fields: Record<string, RowField>,
): Type<object> {
  const name = `${of}${noun.replaceAll(/(?:^| )(\w)/g, (_match, first: string) => first.toUpperCase())}`;
  const declared = Object.entries(fields).filter(([, { fixed }]) => of === 'Create' || !fixed);
  const defaults = of === 'Create' ? declared.map(([field, { default: fallback }]) => [field, fallback]) : [];
  const shape = {
    [name]: class {
      constructor() {
        for (const [field, fallback] of defaults)
          if (fallback !== undefined) Object.assign(this, { [String(field)]: fallback });
      }
    },
  }[name]!;
  for (const [field, { kind: own, fixed: _fixed, ...presence }] of declared) {
    const held = (FIELDS as Record<string, Record<string, Kind>>)[table]?.[field];
    const values = (VALUES as Record<string, Record<string, readonly string[]>>)[table]?.[field];
    const kind = own ?? held ?? (values ? kinds.oneOf(values) : referring(references[field]));
    const { required: _required, default: _default, ...optional } = presence;
    bodyField(kind, of === 'Create' ? presence : optional)(shape.prototype, field);
  }
  return shape;
}

const referring = (to: NonNullable<RowTable['references']>[string] | undefined): Kind =>
  to && 'table' in to && to.table === 'subjects' ? kinds.idOrCode : kinds.uuid;
