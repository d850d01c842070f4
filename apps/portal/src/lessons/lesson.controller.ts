import { Controller, Get, Param, Post } from '@nestjs/common';
import { Completion } from '@app/billing';
import { answered, type Errors } from '../web/answered.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import type { Page, SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readAttendance } from './attendance.js';
import { LessonPage } from './lesson.page.js';
import { LessonsService } from './lessons.service.js';

/** A lesson. Until somebody completes it, nobody is billed for it. */
@Controller('o/:slug/lessons')
@ForManagers()
export class LessonController {
  constructor(
    private readonly lessons: LessonsService,
    private readonly shown: LessonPage,
    private readonly operations: FormOperations,
    private readonly completion: Completion,
  ) {}

  @Get(':lesson_id')
  show(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page> {
    return this.shown.page(organization, pathId(id));
  }

  @Post(':lesson_id/complete')
  async complete(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const { participants } = await this.lessons.lesson(organization, lessonId);
    const read = readAttendance(
      organization.form,
      participants.filter(({ cancelled }) => !cancelled),
    );
    const again = (errors: Errors) => this.shown.page(organization, lessonId, null, errors);
    if ('errors' in read) return again(read.errors);
    const path = `/o/${organization.slug}/lessons`;
    return answered(
      this.operations.perform(organization, 'PUT /v1/sessions/:session_id/complete', { session_id: lessonId }, () =>
        this.completion.complete(organization.organizationId, lessonId, read.value),
      ),
      { back: `${path}/${lessonId}`, done: 'The lesson was completed.', made: () => `${path}?state=due` },
      again,
    );
  }

  @Post(':lesson_id/reopen')
  reopen(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const lessonId = pathId(id);
    const to = { back: `/o/${organization.slug}/lessons/${lessonId}`, done: 'The lesson was reopened.' };
    const ids = { session_id: lessonId };
    const work = this.operations.perform(organization, 'POST /v1/sessions/:session_id/reopen', ids, () =>
      this.completion.reopen(organization.organizationId, lessonId),
    );
    return answered(work, to, (errors) => this.shown.page(organization, lessonId, null, errors));
  }
}
