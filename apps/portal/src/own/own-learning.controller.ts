import { Controller, Get } from '@nestjs/common';
import { Database } from '@app/database';
import {
  type SeenHomework,
  seenHomework,
  type SeenLearner,
  seenLearners,
  type SeenResult,
  seenResults,
} from '@app/teaching';
import { ForFamilies, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { PageError } from '../web/page-error.js';
import { type Page, page } from '../web/pages.js';

/** The newest of each child that are shown. */
const FEW = 10;

/** Homework and results of a student, or of a parent's children, if the organization shares them: the rule is `seenHomework`. */
@Controller('my/:slug/learning')
@ForFamilies()
export class OwnLearningController {
  constructor(private readonly db: Database) {}

  @Get()
  @InNavigation('Learning')
  async show(@Managing() { organizationId, sharesLearning, by: { userId } }: Managed): Promise<Page> {
    if (!sharesLearning) throw PageError.notFound();
    const [learners, homework, results] = await this.db.read<[SeenLearner, SeenHomework, SeenResult]>(
      { organizationId },
      seenLearners(organizationId, userId),
      seenHomework(organizationId, userId, FEW),
      seenResults(organizationId, userId, FEW),
    );
    const of = <Row extends { student_id: string }>(rows: Row[], id: string) =>
      rows.filter((row) => row.student_id === id);
    return page('own/learning', {
      learners: learners.map((one) => ({ ...one, homework: of(homework, one.id), results: of(results, one.id) })),
    });
  }
}
