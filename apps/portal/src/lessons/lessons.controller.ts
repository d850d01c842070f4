import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { type Attended, billOf, Completion } from '@app/billing';
import { VALUES } from '@app/database';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { answered, type Errors, type Read } from '../money/money-forms.js';
import { moneyWords } from '../money/money-words.js';
import type { ParticipantRow, SessionFilter } from './lessons.queries.js';
import { LessonsService } from './lessons.service.js';

/** Sessions that have begun, so that somebody completes them: until then, nothing of them is billed. */
@Controller('o/:slug/money/sessions')
@ForManagers()
export class LessonsController {
  constructor(
    private readonly sessions: LessonsService,
    private readonly operations: FormOperations,
    private readonly completion: Completion,
  ) {}

  @Get()
  async list(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const filter: SessionFilter = asked.state === 'completed' ? 'completed' : 'due';
    const after = readPosition(asked.after);
    const { sessions, next } = await this.sessions.list(organization, filter, after);
    const query = (position: string | null) => queryOf({ state: filter === 'due' ? null : filter, after: position });
    const pages = { isFirst: after === null, first: query(null), next: next && query(positionText(next)) };
    return page('lessons/lessons', { sessions, filter, ...pages });
  }

  @Get(':lesson_id')
  show(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page> {
    return this.shown(organization, pathId(id));
  }

  @Post(':lesson_id/complete')
  async complete(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const sessionId = pathId(id);
    const { participants } = await this.sessions.session(organization, sessionId);
    const read = readAttendance(organization.form, participants);
    const again = (errors: Errors) => this.shown(organization, sessionId, errors);
    if ('errors' in read) return again(read.errors);
    const path = `/o/${organization.slug}/money/sessions`;
    return answered(
      this.operations.perform(organization, 'PUT /v1/sessions/:session_id/complete', { session_id: sessionId }, () =>
        this.completion.complete(organization.organizationId, sessionId, read.value),
      ),
      { back: `${path}/${sessionId}`, done: 'The session was completed.', made: () => path },
      again,
    );
  }

  @Post(':lesson_id/reopen')
  reopen(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const sessionId = pathId(id);
    const to = { back: `/o/${organization.slug}/money/sessions/${sessionId}`, done: 'The session was reopened.' };
    const ids = { session_id: sessionId };
    const work = this.operations.perform(organization, 'POST /v1/sessions/:session_id/reopen', ids, () =>
      this.completion.reopen(organization.organizationId, sessionId),
    );
    return answered(work, to, (errors) => this.shown(organization, sessionId, errors));
  }

  private async shown(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const { session, participants, currency } = await this.sessions.session(organization, id);
    const { form } = organization;
    const data = {
      ...{ lesson: session, ...moneyWords(currency), errors: errors ?? {} },
      participants: participants.map((participant) => ({
        ...participant,
        billed: centsOf(participant.billed),
        price: priceOf(participant, session.minutes),
      })),
      chosen: ({ student_id: studentId, attendance }: ParticipantRow) =>
        (errors && form.text(fieldOf(studentId))) || (attendance ?? 'attended'),
    };
    return page('lessons/lesson', data, errors ? 422 : 200);
  }
}

const fieldOf = (studentId: string) => `attendance-${studentId}`;

/** Who came, of everybody who takes part. */
function readAttendance(form: Form, participants: ParticipantRow[]): Read<Attended[]> {
  const chosen = participants.map(({ student_id: studentId }) => ({
    studentId,
    attendance: VALUES.lesson_participants.attendance.find((one) => one === form.text(fieldOf(studentId))),
  }));
  const missing = chosen.filter(({ attendance }) => attendance === undefined);
  if (missing.length === 0) return { value: chosen as Attended[] };
  return {
    errors: Object.fromEntries(missing.map(({ studentId }) => [fieldOf(studentId), 'Choose whether they came.'])),
  };
}

/** What somebody who is not excused is billed. */
function priceOf({ rate, surcharge }: ParticipantRow, minutes: number): number {
  const cents = (text: string | null) => (text === null ? null : BigInt(text));
  return Number(billOf({ rateCents: cents(rate), surchargeCents: cents(surcharge) }, BigInt(minutes)));
}

const centsOf = (text: string | null): number | null => (text === null ? null : Number(text));
