import { Controller, Param, Post } from '@nestjs/common';
import { Completion } from '@app/billing';
import { Env } from '@app/config';
import { dayOf, Series, SeriesChanges, type SessionChange, SessionChanges } from '@app/scheduling';
import { answered, type Errors } from '../web/answered.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { clockIn } from '../web/formats.js';
import { FormOperations, SENT_BEFORE } from '../web/operations.js';
import { type Page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { unlessRefused } from '../web/refusals.js';
import { SecondLook } from './in-the-way.js';
import { fieldAt, readCancellation, readScope, readTime } from './lesson-forms.js';
import { LessonPage } from './lesson.page.js';
import type { LessonDetails } from './lessons.queries.js';
import { LessonsService } from './lessons.service.js';

/** Moves a lesson, gives it to a tutor, cancels it, or deletes one that was booked by mistake; with those that follow, if it is of a series. */
@Controller('o/:slug/lessons/:lesson_id')
@ForManagers()
export class LessonChangesController {
  constructor(
    private readonly lessons: LessonsService,
    private readonly shown: LessonPage,
    private readonly operations: FormOperations,
    private readonly second: SecondLook,
    private readonly changes: SessionChanges,
    private readonly siblings: SeriesChanges,
    private readonly series: Series,
    private readonly completion: Completion,
    private readonly env: Env,
  ) {}

  @Post('move')
  async move(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const { form, timeZone } = organization;
    const { lesson, participants } = await this.lessons.lesson(organization, pathId(id));
    const studentIds = participants.map(({ student_id: studentId }) => studentId);
    const again = (errors: Errors) => this.shown.page(organization, lesson.id, 'move', errors);
    const [time, tutorId, scope] = [readTime(form, timeZone, this.env), form.id('tutor'), readScope(form)];
    if ('errors' in time) return again(time.errors);
    // The clock on the wall shows some times twice, and no seconds.
    const [day, start] = [dayOf(lesson.starts_at, timeZone), clockIn(lesson.starts_at, timeZone)];
    const moved = form.text('day') !== day || form.text('start') !== start;
    const change: SessionChange = {
      ...(moved && { startsAt: time.value.startsAt }),
      ...(time.value.minutes !== lesson.minutes && { minutes: time.value.minutes }),
      ...(tutorId !== null && tutorId !== lesson.tutor_id && { tutorId }),
      ...(lesson.status === 'pending' && form.text('confirm') === 'yes' && { status: 'scheduled' as const }),
    };
    const back = `/o/${organization.slug}/lessons/${lesson.id}`;
    const following = scope === 'following' && lesson.series_id !== null && !lesson.series_detached;
    const work: Promise<unknown> = following
      ? this.moveFollowing(organization, { ...lesson, series_id: lesson.series_id! }, studentIds, change)
      : this.moveOne(organization, lesson, studentIds, change);
    try {
      return await answered(work, { back, done: 'The lesson was saved.' }, again, fieldAt);
    } catch (error) {
      return this.second.ask(organization, error, { title: 'Move the lesson?', yes: 'Move anyway', action: `${back}/move`, back }); // prettier-ignore
    }
  }

  private moveOne(organization: Managed, lesson: LessonDetails, studentIds: string[], change: SessionChange) {
    const { organizationId } = organization;
    return this.operations.perform(
      organization,
      'PUT /v1/sessions/:session_id',
      { session_id: lesson.id },
      async () => {
        const startsAt = change.startsAt ?? lesson.starts_at;
        const endsAt = new Date(startsAt.getTime() + (change.minutes ?? lesson.minutes) * 60_000);
        const planned = {
          tutorId: change.tutorId ?? lesson.tutor_id,
          studentIds,
          times: [{ startsAt, endsAt }],
          except: [lesson.id],
        };
        const allowed = placesAnew(change) ? await this.second.require(organization, planned) : {};
        return this.changes.change(organizationId, lesson.id, { ...change, ...allowed });
      },
    );
  }

  private moveFollowing(
    organization: Managed,
    lesson: LessonDetails & { series_id: string },
    studentIds: string[],
    change: SessionChange,
  ) {
    const { organizationId } = organization;
    const seriesId = lesson.series_id;
    const from = { at: lesson.starts_at, wholeDay: false };
    return this.operations.perform(organization, 'PATCH /v1/session-series/:series_id', { series_id: seriesId }, async () => {
      const placed = await this.siblings.placed(organizationId, seriesId, from, change);
      const planned = { tutorId: change.tutorId ?? lesson.tutor_id, studentIds, times: placed, except: placed.map((one) => one.id) };
      const allowed = placesAnew(change) ? await this.second.require(organization, planned) : {};
      const { ids, changed } = await this.siblings.change(organizationId, seriesId, from, { ...change, ...allowed }, false);
      return { changed, audit: { session_ids: ids } };
    }); // prettier-ignore
  }

  @Post('cancel')
  async cancel(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, form, slug } = organization;
    const { lesson } = await this.lessons.lesson(organization, pathId(id));
    const again = (errors: Errors) => this.shown.page(organization, lesson.id, 'cancel', errors);
    const read = readCancellation(form, this.env);
    if ('errors' in read) return again(read.errors);
    const { reason, percent, scope } = read.value;
    const to = { back: `/o/${slug}/lessons/${lesson.id}`, done: 'The lesson was canceled.' };
    if (scope === 'following' && lesson.series_id !== null) {
      const seriesId = lesson.series_id;
      const work = this.operations.perform(organization, 'POST /v1/session-series/:series_id/cancel', { series_id: seriesId }, async () => {
        await this.series.lock(organizationId, seriesId);
        const { cancelled } = await this.series.cancel(organizationId, seriesId, { at: lesson.starts_at, wholeDay: false });
        return { changed: cancelled.length > 0, audit: { session_ids: cancelled } };
      }); // prettier-ignore
      return answered(work, { ...to, done: 'The lesson and those that follow were canceled.' }, again);
    }
    const ids = { session_id: lesson.id };
    const work = this.operations.perform(organization, 'POST /v1/sessions/:session_id/cancel', ids, async () => {
      const changed = await this.completion.cancel(organizationId, lesson.id, reason, percent);
      return { changed, audit: changed ? { charge_percent: percent } : undefined };
    });
    return answered(work, to, again);
  }

  @Post('delete')
  async remove(@Managing() organization: Managed, @Param('lesson_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug } = organization;
    const lessonId = pathId(id);
    const lessons = `/o/${slug}/lessons`;
    const work = async (): Promise<SeeOther> => {
      const ids = { session_id: lessonId };
      const done = await this.operations.perform(organization, 'DELETE /v1/sessions/:session_id', ids, () =>
        this.changes.remove(organizationId, lessonId),
      );
      return done === null
        ? seeOther(lessons, 'notice', SENT_BEFORE)
        : seeOther(lessons, 'success', 'The lesson was deleted.');
    };
    return unlessRefused(work(), ({ kind, text }) => seeOther(`${lessons}/${lessonId}`, kind, text));
  }
}

/** Whether somebody has to be free then who need not be now. */
const placesAnew = ({ startsAt, minutes, tutorId }: SessionChange): boolean =>
  startsAt !== undefined || minutes !== undefined || tutorId !== undefined;
