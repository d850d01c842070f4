import { Module } from '@nestjs/common';
import { ApiKeys } from './api-keys.js';
import { Organizations } from './organizations.js';

@Module({
  providers: [ApiKeys, Organizations],
  exports: [ApiKeys, Organizations],
})
export class AccountsModule {}
