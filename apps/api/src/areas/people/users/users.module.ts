import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [UsersController],
  providers: [UsersService],
})
export class UsersModule {}
