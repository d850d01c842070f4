import { Injectable } from '@nestjs/common';
import { Completion } from '@app/billing';
import { Bookings, SessionChanges } from '@app/scheduling';
import { Audit, type Caller, given, type JsonText, Records } from '../../../http/kit.js';
import { changeBy, type CreateSession, type UpdateSession, wantedBy } from '../booking.dto.js';
import { attendedBy, type CancelSession, type CompleteSession } from './sessions.dto.js';
import { SESSION } from './sessions.queries.js';

@Injectable()
export class SessionsService {
  constructor(
    private readonly records: Records,
    private readonly bookings: Bookings,
    private readonly changes: SessionChanges,
    private readonly completion: Completion,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateSession): Promise<JsonText> {
    const { wanted, time } = wantedBy(body);
    return this.written(caller, await this.bookings.book(caller.organizationId, wanted, time));
  }

  async update(caller: Caller, id: string, body: UpdateSession): Promise<JsonText> {
    await this.changes.change(caller.organizationId, id, changeBy(body));
    this.audit.note({ fields: Object.keys(given(body)) });
    return this.written(caller, id);
  }

  async complete(caller: Caller, id: string, body: CompleteSession): Promise<JsonText> {
    await this.completion.complete(caller.organizationId, id, attendedBy(body));
    return this.written(caller, id);
  }

  async reopen(caller: Caller, id: string): Promise<JsonText> {
    await this.completion.reopen(caller.organizationId, id);
    return this.written(caller, id);
  }

  async cancel(
    caller: Caller,
    id: string,
    { reason = null, charge_percent: percent }: CancelSession,
  ): Promise<JsonText> {
    await this.completion.cancel(caller.organizationId, id, reason, percent);
    this.audit.note({ charge_percent: percent });
    return this.written(caller, id);
  }

  async remove(caller: Caller, id: string): Promise<void> {
    await this.changes.remove(caller.organizationId, id);
    this.audit.note({ session_id: id });
  }

  private written(caller: Caller, id: string): Promise<JsonText> {
    this.audit.note({ session_id: id });
    return this.records.written(caller, SESSION, id);
  }
}
