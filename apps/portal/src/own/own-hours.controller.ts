import { Controller, Get, Post } from '@nestjs/common';
import { HoursForm, type Whose } from '../people/hours.form.js';
import { ForTutors, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import type { Page, SeeOther } from '../web/pages.js';

/** When somebody who teaches does so, and when not: their own form. */
@Controller('my/:slug/hours')
@ForTutors()
export class OwnHoursController {
  constructor(private readonly hours: HoursForm) {}

  @Get()
  @InNavigation('Hours')
  show(@Managing() me: Managed): Promise<Page> {
    return this.hours.shown(me, mine(me));
  }

  @Post()
  weekly(@Managing() me: Managed): Promise<Page | SeeOther> {
    return this.hours.weekly(me, mine(me));
  }

  @Post('time-off')
  timeOff(@Managing() me: Managed): Promise<Page | SeeOther> {
    return this.hours.timeOff(me, mine(me));
  }
}

const mine = ({ slug, by }: Managed): Whose => ({ tutorId: by.userId, path: `/my/${slug}/hours`, own: true });
