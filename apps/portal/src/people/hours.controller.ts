import { Controller, Get, Param, Post } from '@nestjs/common';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Page, SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { HoursForm, type Whose } from './hours.form.js';

/** When a tutor teaches, and when not, for managers. */
@Controller('o/:slug/people/:user_id/hours')
@ForManagers()
export class HoursController {
  constructor(private readonly hours: HoursForm) {}

  @Get()
  show(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    return this.hours.shown(organization, whose(organization, id));
  }

  @Post()
  weekly(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    return this.hours.weekly(organization, whose(organization, id));
  }

  @Post('time-off')
  timeOff(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    return this.hours.timeOff(organization, whose(organization, id));
  }
}

function whose({ slug }: Managed, id: string): Whose {
  const tutorId = pathId(id);
  return { tutorId, path: `/o/${slug}/people/${tutorId}/hours`, own: false };
}
