import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, many, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { sessionView } from '../session.view.js';
import { CancelSeries, CreateSeries } from './session-series.dto.js';
import { SessionSeriesService } from './session-series.service.js';
import { seriesShape } from './session-series.view.js';

@Controller('v1/session-series')
export class SessionSeriesController {
  constructor(private readonly series: SessionSeriesService) {}

  @Post()
  @RequireScopes('sessions:write')
  @Documented({
    id: 'create_session_series',
    summary: 'Books a session that repeats every one to four weeks',
    description:
      'Takes the fields of a session, and repeats it at the same time of the organization’s clocks, also when these ' +
      'change. If the tutor has another session at one of the times, nothing is booked (409), unless `skip_conflicts` ' +
      'leaves those out.',
    answer: { ...one(seriesShape), shapes: [sessionView, seriesShape] },
    example: {
      tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      starts_at: '2027-02-02T05:00:00Z',
      duration_minutes: 60,
      every_weeks: 1,
      count: 10,
    },
    conflicts: ['invalid_state', 'session_overlap'],
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateSeries) body: CreateSeries) {
    return this.series.create(caller, body);
  }

  @Post(':series_id/cancel', 200)
  @RequireScopes('sessions:write')
  @Documented({
    id: 'cancel_session_series',
    summary: 'Cancels the rest of a series',
    description: 'Returns the sessions that are cancelled from then on. Completed ones stay. Again: unchanged.',
    answer: many(sessionView),
    example: { from: '2027-03-01' },
  })
  cancel(
    @CurrentCaller() caller: Caller,
    @PathId('series_id') id: string,
    @ValidBody(CancelSeries) body: CancelSeries,
  ) {
    return this.series.cancel(caller, id, body);
  }
}
