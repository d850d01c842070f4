import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { FEEDBACK, REVIEWS } from './session-feedback.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(FEEDBACK), listController(REVIEWS)] })
export class SessionFeedbackModule {}
