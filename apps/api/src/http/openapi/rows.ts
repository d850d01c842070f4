import type { Type } from '@nestjs/common';
import type { RecordOperation, RecordPath } from '@app/audit';
import { FIELDS, type Kind, kinds } from '@app/fields';
import { Rows, type RowTable, type Values } from '@app/rows';
import type { ConflictCode } from '../errors/api-error.js';
import type { RecordSet } from '../lists/source.js';
import { bodyField, type Presence } from '../validation/fields.js';
import { recordController } from './read-controllers.js';
import { writeController, type WriteDeclaration } from './write-controller.js';

/** A field of the requests, called like its column. */
interface RowField extends Presence {
  /** If neither `FIELDS` nor a reference says it. */
  kind?: Kind;
  /** It cannot be changed. */
  fixed?: boolean;
}

/** Rows without a rule of their own: declared, to be read one by one, created, changed and deleted. */
export interface RowsDeclaration<Path extends RecordPath> {
  path: Path;
  /** As in "a rate band". */
  noun: string;
  kind: RowTable;
  scope: WriteDeclaration<RecordOperation<Path>, object, [], void>['scope'];
  /** What is answered: the list's declaration. */
  shown: RecordSet;
  fields: Record<string, RowField>;
  /** Of the bodies of POST and PATCH. */
  examples: { create: object; change: object };
  /** What else a caller must know, in Markdown. */
  notes?: { create?: string; change?: string; remove?: string };
  /** Those of the four that are declared elsewhere, or that there are not. */
  without?: readonly ('read' | 'create' | 'change' | 'remove')[];
}

/** All that are declared, for the tests. */
export const DECLARED: RowsDeclaration<RecordPath>[] = [];

/** The controllers of rows: their GET, POST, PATCH and DELETE. */
export function rows<Path extends RecordPath>(declaration: RowsDeclaration<Path>): Type[] {
  const { path, noun, kind, scope, shown, fields, examples, notes = {}, without = [] } = declaration;
  const [list, idName] = path.split('/:') as [string, string];
  const verb = (name: string) => `${name}_${noun.replaceAll(' ', '_')}`;
  const a = `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
  const shared = { scope, rules: [Rows] as [typeof Rows], versions: shown };
  const conflicts: ConflictCode[] = kind.states ? ['invalid_state'] : [];
  const one = `v1/${path}`;
  DECLARED.push(declaration);

  const parts = {
    read: () =>
      recordController({ ...shown, id: verb('get'), path: one, summary: `Returns one ${noun}`, versioned: true }),
    create: () =>
      writeController({
        ...shared,
        id: verb('create'),
        route: `POST /v1/${list}` as RecordOperation<Path>,
        summary: `Creates ${a}`,
        description: notes.create,
        example: examples.create,
        body: requestClass('Create', noun, kind, fields),
        answers: shown,
        idName,
        run: ({ organizationId, body }, own) => own.add(organizationId, kind, body as Values),
      }),
    change: () =>
      writeController({
        ...shared,
        id: verb('update'),
        route: `PATCH /v1/${path}` as RecordOperation<Path>,
        summary: `Changes ${a}`,
        description: ['Omitted fields stay unchanged.', notes.change].filter(Boolean).join(' '),
        example: examples.change,
        conflicts,
        body: requestClass('Update', noun, kind, fields),
        answers: shown,
        run: ({ organizationId, ids, body }, own) => own.change(organizationId, kind, idIn(ids), body as Values),
      }),
    remove: () =>
      writeController({
        ...shared,
        id: verb('remove'),
        route: `DELETE /v1/${path}` as RecordOperation<Path>,
        summary: `Deletes ${a}`,
        description: ['409 `still_referenced` if another record names it.', notes.remove].filter(Boolean).join(' '),
        conflicts: [...conflicts, 'still_referenced'],
        answers: null,
        run: ({ organizationId, ids }, own) => own.remove(organizationId, kind, idIn(ids)),
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
    const kind =
      own ?? (FIELDS as Record<string, Record<string, Kind>>)[table]?.[field] ?? referring(references[field]);
    const { required: _required, default: _default, ...optional } = presence;
    bodyField(kind, of === 'Create' ? presence : optional)(shape.prototype, field);
  }
  return shape;
}

const referring = (to: NonNullable<RowTable['references']>[string] | undefined): Kind =>
  to && 'table' in to && to.table === 'subjects' ? kinds.idOrCode : kinds.uuid;
