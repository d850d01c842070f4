import { Controller, Get } from '@nestjs/common';
import { ApiError, Documented, RequireScopes } from '../../../apps/api/src/http/kit.js';
import { TestApi } from '../../support/http/api.js';

@Controller('v1/planted')
class PlantedController {
  @Get('named')
  @RequireScopes('read')
  @Documented({ id: 'named', summary: 'Refuses', answer: null, conflicts: ['invalid_state'] })
  named(): never {
    throw new ApiError('invalid_state', 'Planted.');
  }

  @Get('unnamed')
  @RequireScopes('read')
  @Documented({ id: 'unnamed', summary: 'Refuses', answer: null, conflicts: ['idempotency_key_in_use'] })
  unnamed(): never {
    throw new ApiError('invalid_state', 'Planted.');
  }
}

it('an answer with a conflict that its operation does not name fails the spec that met it', async () => {
  const api = await TestApi.start({}, undefined, [PlantedController]);
  const key = await api.key((await api.make.organization()).id);
  for (const path of ['named', 'unnamed']) expect((await api.get(`/v1/planted/${path}`, key)).status).toBe(409);
  await expect(api.stop()).rejects.toThrow(/^GET \/v1\/planted\/unnamed answered invalid_state: name it[^\n]*$/);
});
