import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import type { RowTable } from '@app/rows';

/** What is done to questions without a rule. */
export const QUESTIONS: RowTable = { table: 'questions' };

export interface NewQuestion {
  topic: string;
  introText: string | null;
  tags: string[];
  totalMarks: number | null;
  curriculumLevelIds: string[];
}

/** Writes questions of an organization's own, in the ambient transaction. */
@Injectable()
export class Questions {
  constructor(private readonly db: Database) {}

  /** @returns the id */
  async add(organizationId: string, question: NewQuestion): Promise<string> {
    const { topic, introText, tags, totalMarks, curriculumLevelIds } = question;
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO questions (id, organization_id, topic, intro_text, tags, total_marks, curriculum_level_ids)
      VALUES (${id}, ${organizationId}, ${topic}, ${introText}, ${tags}, ${totalMarks}, ${curriculumLevelIds}::uuid[])`);
    return id;
  }
}
