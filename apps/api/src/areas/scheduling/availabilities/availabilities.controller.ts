import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, many, one, PathId, Put, RequireScopes, ValidBody, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { ReplaceAvailabilities, ReplaceTimeOff } from './availabilities.dto.js';
import { SlotsQuery } from './availabilities.queries.js';
import { AvailabilitiesService } from './availabilities.service.js';
import { availabilityView, availableSlotsShape, timeOffView } from './availabilities.view.js';

@Controller('v1/tutors/:tutor_id')
export class AvailabilitiesController {
  constructor(private readonly availabilities: AvailabilitiesService) {}

  @Get('available-slots')
  @RequireScopes('read')
  @Documented({
    id: 'get_available_slots',
    summary: 'Returns when a tutor can be booked',
    description:
      'The weekly hours without the tutor’s sessions (except cancelled ones) and time off. Slots start on the quarter hour of ' +
      '`from` to `to`, which are days of the organization’s time zone, and never in the past. Hours that touch count as one. ' +
      'A tutor who has not accepted, or is archived, has none.',
    answer: one(availableSlotsShape),
  })
  slots(@CurrentCaller() caller: Caller, @PathId('tutor_id') id: string, @ValidQuery(SlotsQuery) query: SlotsQuery) {
    return this.availabilities.slots(caller, id, query);
  }

  @Put('availabilities')
  @RequireScopes('tutors:write')
  @Documented({
    id: 'replace_tutor_availabilities',
    summary: 'Replaces the weekly hours of a tutor',
    description:
      'Hours that stay as they are keep their ids. Hours of one day and time zone must not overlap; they may touch. Sessions stay ' +
      'as they are. The body may also be the list alone.',
    answer: many(availabilityView),
    example: {
      availabilities: [
        { day_of_week: 1, start_time: '16:00', end_time: '20:30' },
        { day_of_week: 6, start_time: '09:00', end_time: '12:00', timezone: 'Australia/Perth' },
      ],
    },
  })
  replaceHours(
    @CurrentCaller() caller: Caller,
    @PathId('tutor_id') id: string,
    @ValidBody(ReplaceAvailabilities) body: ReplaceAvailabilities,
  ) {
    return this.availabilities.replaceHours(caller, id, body);
  }

  @Put('time-off')
  @RequireScopes('tutors:write')
  @Documented({
    id: 'replace_tutor_time_off',
    summary: 'Replaces the days on which a tutor does not teach',
    description:
      'Time off that stays as it is keeps its id. Days are those of the organization’s time zone. Sessions on these days stay as ' +
      'they are. The body may also be the list alone.',
    answer: many(timeOffView),
    example: { time_off: [{ starts_on: '2026-09-19', ends_on: '2026-10-04', note: 'School holidays' }] },
  })
  replaceTimeOff(
    @CurrentCaller() caller: Caller,
    @PathId('tutor_id') id: string,
    @ValidBody(ReplaceTimeOff) body: ReplaceTimeOff,
  ) {
    return this.availabilities.replaceTimeOff(caller, id, body);
  }
}
