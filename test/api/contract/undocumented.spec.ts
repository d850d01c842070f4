import { Controller, HttpCode } from '@nestjs/common';
import { RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import { ApiError } from '../../../apps/api/src/http/errors/api-error.js';
import { Documented } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { Put } from '../../../apps/api/src/http/writes/write-methods.js';
import { TestApi } from '../../support/http/api.js';
import { send } from '../../support/http/routes.js';

@Controller('v1/planted')
class Planted {
  @Put('complete')
  @HttpCode(200)
  @RequireScopes('write')
  @Documented({ id: 'complete_planted', summary: 'Planted.', answer: null })
  complete() {
    throw new ApiError('invalid_state', 'Not now.');
  }
}

it('a 409 that the OpenAPI document does not name fails the tests that meet it', async () => {
  const api = await TestApi.start({}, undefined, [Planted]);
  const { id } = await api.make.organization();
  const key = await api.key(id, { scopes: ['write'] });
  const { status } = await send(api, 'PUT', '/v1/planted/complete', { Authorization: `Token token=${key}` });
  expect(status).toBe(409);
  await expect(api.stop()).rejects.toThrow('PUT /v1/planted/complete answered 409: name it among its responses');
});
