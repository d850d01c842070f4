import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { CreateQuestion } from './questions.dto.js';
import { QUESTIONS } from './questions.queries.js';

@Injectable()
export class QuestionsService {
  constructor(
    private readonly db: Database,
    private readonly records: Records,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateQuestion): Promise<JsonText> {
    const { topic, intro_text = null, tags, total_marks = null, curriculum_level_ids: levels } = body;
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO questions (id, organization_id, topic, intro_text, tags, total_marks, curriculum_level_ids)
      VALUES (${id}, ${caller.organizationId}, ${topic}, ${intro_text}, ${tags}, ${total_marks}, ${levels}::uuid[])`);
    this.audit.note({ question_id: id });
    return this.records.written(caller, QUESTIONS, id);
  }
}
