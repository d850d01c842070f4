import { Controller, Get, Module, Query } from '@nestjs/common';
import { Env } from '@app/config';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { readFilters, STATUSES } from './activity-filters.js';
import { ActivityService } from './activity.service.js';

/** Recent requests with the organization's API keys. */
@Controller('o/:slug/activity')
@ForManagers()
class ActivityController {
  constructor(
    private readonly activity: ActivityService,
    private readonly env: Env,
  ) {}

  @Get()
  @InNavigation('Developers', 'Activity', 1)
  async show(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const filters = readFilters(query);
    const { keys, requests, older, chart } = await this.activity.look(organization, filters);
    return page('activity/activity', {
      ...{ keys, requests, older, filters, chart, base: this.env.apiUrl, statuses: STATUSES },
    });
  }
}

@Module({ controllers: [ActivityController], providers: [ActivityService], exports: [ActivityService] })
export class ActivityModule {}
