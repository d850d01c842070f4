import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Index {
  table: string;
  columns: string;
  where?: string;
  /** Columns that the list's other filters read, so that the index alone answers any combination. */
  include: string;
}

/** Indexes by name. They already exist, without the included columns. */
const INDEXES: Record<string, Index> = {
  homework_type_keyset: {
    table: 'homework',
    columns: 'organization_id, homework_type, created_at, id',
    include: 'scope',
  },
  homework_scope_keyset: {
    table: 'homework',
    columns: 'organization_id, scope, created_at, id',
    include: 'homework_type',
  },
  homework_student_keyset: {
    table: 'homework',
    columns: 'organization_id, student_id, created_at, id',
    include: 'homework_type, scope',
  },
  session_feedback_tutor_keyset: {
    table: 'session_feedback',
    columns: 'organization_id, tutor_id, created_at, id',
    include: 'is_public',
  },
  adjustments_keyset: {
    table: 'adjustments',
    columns: 'organization_id, created_at, id',
    include: 'period_start',
  },
  adjustments_live_keyset: {
    table: 'adjustments',
    columns: 'organization_id, created_at, id',
    where: 'NOT voided',
    include: 'period_start',
  },
  adjustments_tutor_keyset: {
    table: 'adjustments',
    columns: 'organization_id, tutor_id, created_at, id',
    include: 'voided, period_start',
  },
  payments_student_keyset: {
    table: 'payments',
    columns: 'organization_id, student_id, created_at, id',
    include: 'tutor_id, status',
  },
  payments_tutor_keyset: {
    table: 'payments',
    columns: 'organization_id, tutor_id, created_at, id',
    include: 'status',
  },
  organization_results_keyset: {
    table: 'organization_results',
    columns: 'organization_id, created_at, result_id',
    include: 'completed_at',
  },
  organization_results_student: {
    table: 'organization_results',
    columns: 'organization_id, student_id, created_at, result_id',
    include: 'status, mode, completed_at',
  },
  organization_results_status: {
    table: 'organization_results',
    columns: 'organization_id, status, created_at, result_id',
    include: 'mode, completed_at',
  },
  organization_results_mode: {
    table: 'organization_results',
    columns: 'organization_id, mode, created_at, result_id',
    include: 'status, completed_at',
  },
  blog_posts_order: {
    table: 'blog_posts',
    columns: 'organization_id, is_pinned, created_at, id',
    include: 'brand, status',
  },
};

/**
 * With any filters, deep pages skip rows on an index without reading the table: 0.3 instead of 0.8 s for 250,000 rows
 * of homework with two filters.
 */
export class ListIndexes1763600000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await recreate(runner, ({ include }) => `INCLUDE (${include})`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await recreate(runner, () => '');
  }
}

async function recreate(runner: QueryRunner, including: (index: Index) => string): Promise<void> {
  for (const [name, index] of Object.entries(INDEXES)) {
    const { table, columns, where } = index;
    await runner.query(/* sql */ `
      DROP INDEX ${name};
      CREATE INDEX ${name} ON ${table} (${columns}) ${including(index)} ${where ? `WHERE ${where}` : ''};
    `);
  }
}
