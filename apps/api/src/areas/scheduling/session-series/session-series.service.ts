import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Series } from '@app/scheduling';
import { Audit, type Caller, JsonText } from '../../../http/kit.js';
import { wantedBy } from '../booking.dto.js';
import { SESSIONS, sessionView } from '../session.view.js';
import { type CancelSeries, type CreateSeries, repeatedBy } from './session-series.dto.js';

@Injectable()
export class SessionSeriesService {
  constructor(
    private readonly db: Database,
    private readonly series: Series,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateSeries): Promise<JsonText> {
    const { wanted, time } = wantedBy(body);
    const booked = await this.series.book(caller.organizationId, wanted, time, repeatedBy(body), body.skip_conflicts);
    const { seriesId: series_id, ids } = booked;
    this.audit.note({ series_id, session_ids: ids });
    const skipped = booked.skipped.map(({ startsAt, endsAt, sessionId }) => ({
      starts_at: startsAt.toISOString(),
      ends_at: endsAt.toISOString(),
      session_id: sessionId,
    }));
    const data = await this.sessions(caller, ids);
    return new JsonText(`{"series_id":"${series_id}","data":${data},"skipped":${JSON.stringify(skipped)}}`);
  }

  async cancel(caller: Caller, id: string, { from }: CancelSeries): Promise<{ data: unknown }> {
    const { ids, cancelled } = await this.series.cancel(caller.organizationId, id, from ?? null);
    this.audit.note({ series_id: id, session_ids: cancelled }, cancelled.length > 0);
    return { data: JSON.parse(await this.sessions(caller, ids)) as unknown };
  }

  /** The sessions as JSON, in the order of time. */
  private async sessions(caller: Caller, ids: string[]): Promise<string> {
    const rows = await this.db.query<{ data: string }>(sql`
      SELECT ${sessionView.json} AS data FROM ${SESSIONS.all}
      WHERE ${SESSIONS.sightOf(caller)} AND s.id = ANY (${ids}::uuid[]) ORDER BY s.starts_at, s.id`);
    return `[${rows.map(({ data }) => data).join(',')}]`;
  }
}
