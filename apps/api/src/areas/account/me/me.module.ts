import { Module } from '@nestjs/common';
import { HttpModule } from '../../../http/kit.js';
import { MeController } from './me.controller.js';
import { MeService } from './me.service.js';

@Module({ imports: [HttpModule], controllers: [MeController], providers: [MeService] })
export class MeModule {}
