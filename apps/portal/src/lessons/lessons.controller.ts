import { Controller, Get, Query } from '@nestjs/common';
import { addDays, dayOf, startOfDay } from '@app/scheduling';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { Choices } from './choices.js';
import { isOfDays, lengthOf, type LessonFilter, queryOf, readFilter, STATES, VIEWS } from './lessons.filter.js';
import { type LessonRow, MOST_STUDENTS } from './lessons.queries.js';
import { LessonsService } from './lessons.service.js';

/** The lessons of a day or a week, and those that need somebody. */
@Controller('o/:slug/lessons')
@ForManagers()
export class LessonsController {
  constructor(
    private readonly lessons: LessonsService,
    private readonly choices: Choices,
  ) {}

  @Get()
  @InNavigation('Lessons')
  async list(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const { timeZone } = organization;
    const filter = readFilter(asked, timeZone);
    const { lessons, next, tutors, tutor } = await this.lessons.list(organization, filter);
    const search = tutors === null && typeof asked.tutor_name === 'string' ? asked.tutor_name : '';
    return page('lessons/lessons', {
      ...{ filter, STATES, VIEWS, tutors, tutor, days: byDay(lessons, timeZone), search, MOST_STUDENTS },
      found: search.trim() === '' ? null : (await this.choices.people(organization, 'tutor', search)).people,
      span: isOfDays(filter) ? spanOf(filter, timeZone) : null,
      query: (changed: Partial<LessonFilter>) => queryOf(filter, changed),
      next: next && queryOf(filter, { after: next }),
    });
  }
}

/** The lessons of each day, in their order. */
function byDay(lessons: LessonRow[], timeZone: string) {
  const now = new Date();
  const shown = lessons.map((lesson) => ({ ...lesson, due: lesson.status === 'scheduled' && lesson.starts_at <= now }));
  return [...Map.groupBy(shown, ({ starts_at: at }) => dayOf(at, timeZone)).values()];
}

/** The first and the last day that are shown, and the days that the pages around them begin with. */
function spanOf(filter: LessonFilter, timeZone: string) {
  const days = lengthOf(filter);
  const [last, today] = [addDays(filter.from, days - 1), dayOf(new Date(), timeZone)];
  return {
    first: startOfDay(filter.from, timeZone),
    last: startOfDay(last, timeZone),
    earlier: addDays(filter.from, -days),
    later: addDays(filter.from, days),
    today,
    isNow: filter.from <= today && today <= last,
  };
}
