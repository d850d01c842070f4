import type { RowTable, Values } from '@app/rows';

const TARGETS = ['classroom_id', 'group_id', 'student_id'];

/** Files and links: by reference, or uploaded. Another scope drops the former target. */
export const FILES: RowTable = {
  table: 'files',
  references: {
    owner_id: { member: 'any' },
    student_id: { member: 'learn' },
    classroom_id: { table: 'classrooms' },
    group_id: { table: 'student_groups' },
    upload_id: { table: 'uploads' },
  },
  unique: { files_upload: { at: ['upload_id'], reason: 'Another file has this upload.' } },
  derived: {
    from: ['scope'],
    values(given, stored): Values {
      if (!stored || given.scope === undefined || given.scope === stored.scope) return {};
      return Object.fromEntries(TARGETS.filter((name) => given[name] === undefined).map((name) => [name, null]));
    },
  },
};
