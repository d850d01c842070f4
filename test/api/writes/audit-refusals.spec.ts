import type { AuditLog } from '@app/audit';
import { type Database, Deadline, type Tenant } from '@app/database';
import type { Attempt } from '../../../apps/api/src/http/request/attempt.js';
import { Audit } from '../../../apps/api/src/http/writes/audit.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the row of a refused write', () => {
  it.each([
    ['as long as its request, whose response waits for it', 499, 1_000, 1_000],
    ['two seconds at most', 422, 60_000, 2_000],
    ['two seconds without a deadline', 422, undefined, 2_000],
    ['two seconds once the response is sent, even if the deadline has passed', 500, -1, 2_000],
  ])('may take %s', async (_, status, left, expected) => {
    const tenants: Tenant[] = [];
    const db = { transaction: (tenant: Tenant) => Promise.resolve(tenants.push(tenant)) };
    const caller = { organizationId: 'x', keyId: 'y', ...(left !== undefined && { deadline: new Deadline(left) }) };
    const attempt = { caller, operation: 'POST /v1/students', requestId: 'z' } as unknown as Attempt;
    await new Audit(db as unknown as Database, {} as AuditLog).recordRefusal(attempt, status, 'validation_error');
    expect(tenants.map(({ organizationId, deadline }) => [organizationId, deadline?.left])).toEqual([['x', expected]]);
  });
});
