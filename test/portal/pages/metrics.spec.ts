import { fixture } from '../../support/process/fixture.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await fixture(TestPortal.start());

it("the portal's /metrics count requests by route template, and name nobody", async () => {
  await portal.get('/join/secret-token-of-somebody');
  await portal.get('/nowhere-special');
  const { status, headers, text } = await portal.get('/metrics');
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(text).toMatch(/^http_request_duration_seconds_count\{method="GET",route="\/join\/:\w+",status="\d+"\} 1$/m);
  expect(text).toContain('route="none",status="404"');
  expect(text).toMatch(/^database_pool_total \d/m);
  expect(text).not.toMatch(/secret-token|nowhere-special/);
});
