// Words that people use for the same subject, one subject a line, in English and Chinese. A memory says "allergic to
// peanuts", the user asks where to have dinner: no word is shared, the subject is. Each word then also counts, for
// little, as its subject, in both languages, so that one finds the other. Data, written by hand from common usage and
// from no test set; a Chinese word has two characters, as its terms have.

export const associations = `
food eat meal dish cuisine recipe cook bake snack taste delicious flavor hungry ingredient menu kitchen yummy appetite 吃饭 美食 好吃 味道 烹饪 做饭 菜谱 食物 零食 饿了 口味 美味
meals breakfast lunch dinner supper brunch restaurant cafe diner takeout buffet canteen 早餐 午餐 晚餐 早饭 午饭 晚饭 餐厅 饭店 外卖 食堂
diet vegan vegetarian gluten dairy lactose allergy allergic nut peanut keto halal kosher calorie nutrition organic meat seafood shellfish 素食 过敏 饮食 营养 热量 海鲜 牛肉 猪肉 鸡肉
sweets cake cookie chocolate candy dessert sugar icecream ice cream pastry pie pudding sweet 蛋糕 饼干 巧克 糖果 甜点 冰淇 淇淋 甜食
fruit apple banana orange mango strawberry grape watermelon peach pear berry vegetable carrot tomato potato salad 水果 苹果 香蕉 芒果 草莓 葡萄 西瓜 蔬菜 胡萝 番茄 土豆
fastfood pizza burger hamburger sausage bacon fries sandwich toast noodle pasta rice dumpling soup bread 披萨 比萨 汉堡 香肠 培根 薯条 面包 吐司 面条 米饭 饺子
drink beverage coffee tea juice milk water beer wine alcohol cocktail soda thirsty bar pub 饮料 咖啡 果汁 牛奶 喝水 啤酒 奶茶 喝茶 口渴
ill sick sickness fever cold flu cough hospital doctor nurse medicine pill clinic symptom disease pain headache stomach dentist injection vaccine ache 生病 感冒 发烧 咳嗽 医院 医生 打针 吃药 疼痛 头疼 肚子 难受 不舒 舒服
injury hurt wound bleed bruise fall accident broken scratch bandage sprain 受伤 摔倒 流血 伤口 摔跤 弄伤
fitness exercise workout gym run jog yoga training muscle cardio weight stretch healthy health wellness 锻炼 健身 跑步 运动 瑜伽 健康 减肥
sport football soccer basketball tennis baseball volleyball badminton swim hockey golf match game team player coach tournament athlete champion skate ski cycling 足球 篮球 网球 羽毛 排球 乒乓 游泳 比赛 球队 教练 冠军 滑冰 滑雪 体育 球赛
race competition contest win won winner prize medal award trophy first place champion victory score rank 赛跑 获奖 奖品 奖状 奖牌 第一 胜利 名次 赢得 得奖 获得
lose loss defeat fail failure mistake wrong error 失败 输了 错误 做错 犯错 失误
happy happiness joy joyful glad delighted cheerful excited excite excitement pleased fun enjoy thrilled 开心 高兴 快乐 愉快 兴奋 激动 喜悦 幸福 好玩
proud pride praise praised achievement accomplish success successful confident confidence compliment 自豪 骄傲 表扬 夸奖 成功 成就 自信 称赞
sad sadness unhappy cry tears upset depressed disappointed disappointment sorrow lonely miss heartbroken down grief 难过 伤心 悲伤 哭泣 失望 孤独 沮丧 想念 孤单 委屈
afraid fear scared scary frightened terrified horror dark ghost nightmare monster 害怕 恐惧 吓人 恐怖 噩梦 怪物 黑暗 胆小
worry worried anxious anxiety nervous stress stressed pressure tense panic overwhelmed relax relaxation calm 担心 焦虑 紧张 压力 放松 不安 平静
angry anger mad furious annoyed argue argument fight quarrel conflict irritated rage 生气 愤怒 吵架 发火 争吵 打架 恼火
surprise surprised amazing amazed unexpected astonished shocked wow 惊讶 惊喜 意外 吃惊 惊奇
bored boring dull tired exhausted sleepy fatigue rest 无聊 疲惫 累了 好累 疲倦 休息 困了
sleep bed bedtime nap insomnia dream night pillow awake 睡觉 睡眠 失眠 做梦 床上 晚上 熬夜
family parent mother father mum mom dad brother sister sibling son daughter grandma grandpa grandmother grandfather uncle aunt cousin relative 家人 爸爸 妈妈 父母 哥哥 弟弟 姐姐 妹妹 爷爷 奶奶 外婆 外公 叔叔 阿姨 家庭
couple wife husband partner girlfriend boyfriend wedding marriage married anniversary date romantic engaged divorce spouse 妻子 丈夫 老婆 老公 女友 男友 结婚 婚礼 约会 恋爱
child kid baby toddler son daughter pregnant pregnancy birth daycare kindergarten toy 孩子 宝宝 婴儿 儿童 幼儿 玩具 小孩
friend friendship buddy companion classmate neighbor roommate mate share together 朋友 友谊 伙伴 同学 邻居 室友 好友 一起 分享
school class classroom student teacher lesson homework course university college campus study grade semester 学校 班级 教室 学生 老师 作业 课程 大学 学习 年级 上课 上学
exam test quiz score grade mark pass result perfect 考试 测验 分数 成绩 满分 及格 考得 试卷
subjects math mathematics science physics chemistry biology geography history literature problem question answer 数学 科学 物理 化学 生物 地理 历史 语文 问题 题目 回答
learning learn study practice memorize tutor tutorial understand skill teach education knowledge 学会 练习 学到 教育 知识 努力 背诵
read book novel story author library chapter fiction literature poem poetry magazine comic 读书 看书 小说 故事 作者 图书 书店 诗歌 漫画 阅读
write writing diary essay journal blog letter composition 写作 日记 作文 写信 文章
language english chinese french spanish german japanese translate vocabulary grammar fluent bilingual 英语 中文 法语 日语 翻译 单词 语法 语言
music song sing singer concert band guitar piano violin drum instrument melody album playlist chorus orchestra 音乐 唱歌 歌曲 钢琴 吉他 乐器 演唱 歌手 合唱 小提
dance dancing dancer ballet stage perform performance performer show audience talent magic act theater play drama 跳舞 舞蹈 表演 舞台 演出 观众 节目 魔术 话剧 晚会
party celebrate celebration birthday festival holiday christmas newyear eve gift present invite guest balloon fireworks halloween thanksgiving 派对 庆祝 生日 节日 圣诞 元旦 新年 春节 礼物 邀请 晚会 聚会 烟花 节日
film movie cinema actor actress director tv television series episode show watch cartoon animation documentary netflix video 电影 演员 导演 电视 动画 影院 卡通 视频 节目
videogame game gaming console playstation xbox nintendo gamer puzzle chess board card lego 游戏 拼图 象棋 积木 电玩 下棋
art paint painting draw drawing sketch artist museum gallery craft sculpture color handmade pottery 画画 绘画 美术 艺术 手工 博物 展览 颜色 涂色
photo photograph photography camera picture image album selfie 照片 拍照 摄影 相机 相册
travel trip journey vacation holiday tour tourist visit sightseeing destination abroad itinerary adventure explore luggage passport 旅行 旅游 度假 游玩 出国 行李 景点 参观 探险
stay hotel hostel airbnb resort accommodation room reservation booking camp camping tent 酒店 宾馆 住宿 露营 帐篷 预订
flight fly plane airplane airport airline pilot ticket seat aisle window 飞机 机场 航班 机票
transport train bus subway metro car drive taxi bike bicycle motorcycle ride commute traffic road vehicle station 火车 公交 地铁 汽车 开车 骑车 自行 交通 出租
outdoors hike hiking mountain climb forest park picnic trail nature garden river lake grass kite lawn 爬山 登山 公园 野餐 森林 大自 自然 草地 风筝 户外 花园 河边
beach sea ocean sand coast wave shell surf island swim sunbathe 海边 沙滩 大海 海洋 贝壳 海滩 海岛
weather rain rainy snow sunny storm thunder wind cloud temperature hot cold umbrella snowman 天气 下雨 下雪 晴天 打雷 台风 雪人 雨伞 太阳
season spring summer autumn fall winter 春天 夏天 秋天 冬天 季节
animal pet dog puppy cat kitten bird fish rabbit hamster turtle horse zoo vet 动物 宠物 小狗 小猫 兔子 仓鼠 乌龟 金鱼 动物 狗狗 猫咪
plant flower tree seed leaf rose bouquet garden grow bloom soil 植物 种花 鲜花 花朵 种子 大树 花束 开花 浇水
insect bug spider bee butterfly ant mosquito cockroach worm 虫子 蜘蛛 蜜蜂 蝴蝶 蚂蚁 蚊子 昆虫
home house apartment room bedroom living furniture sofa decorate decoration rent move renovate 房子 房间 卧室 客厅 家具 搬家 装修 租房 公寓
chores clean cleaning tidy wash laundry sweep dish dust vacuum mess organize 打扫 收拾 洗碗 洗衣 整理 家务 干净 卫生
clothes wear dress shirt pants shoe jacket coat hat skirt fashion outfit style jewelry 衣服 裙子 鞋子 外套 帽子 穿着 打扮 时尚
shopping shop buy purchase store mall market order brand price sale discount product online 购物 买了 商店 商场 超市 便宜 打折 品牌 网购 价格
money pay cost budget save saving spend expensive cheap salary income debt loan bank invest investment stock tax dollar finance 省钱 花钱 存钱 工资 投资 贷款 银行 预算 零花 收入 贵的
work job career office boss colleague coworker company manager employee interview promotion resume hire business profession meeting 工作 上班 公司 老板 同事 面试 升职 简历 职业 会议 加班
startup entrepreneur business client customer sales marketing product launch 创业 客户 市场 营销 产品
plan schedule calendar appointment deadline remind reminder arrange agenda event 计划 安排 日程 提醒 约定 打算 准备
morning early wake breakfast sunrise routine habit daily 早上 早起 起床 习惯 每天
help support assist assistance advice suggest suggestion recommend recommendation tip guide encourage 帮助 建议 推荐 支持 鼓励 帮忙 办法
volunteer charity donate donation community service kindness kind 志愿 捐款 公益 善良 爱心
lost lose find search missing forget forgot disappear stolen 丢失 丢了 找到 不见 忘记 弄丢 找不
broken break damage repair fix crash tear ruin 弄坏 坏了 修理 破了 打碎 损坏
lie honest truth secret promise trust cheat apologize sorry forgive 撒谎 诚实 秘密 承诺 道歉 原谅 信任 对不
like love prefer preference favorite favourite enjoy fond adore hobby interest interested fan 喜欢 最爱 爱好 兴趣 喜爱 热爱
dislike hate avoid never uncomfortable unpleasant allergic annoy disgust 讨厌 不喜 不想 厌恶 避免
religion church pray faith bible god temple spiritual meditation meditate 信仰 教堂 寺庙 祈祷 冥想
environment green sustainable sustainability eco recycle recycling climate pollution carbon energy plastic 环保 环境 污染 回收 可持 节能
phone mobile smartphone iphone android app tablet ipad screen call text message 手机 电话 平板 应用 短信
computer laptop pc mac windows linux keyboard mouse monitor hardware cpu gpu desktop device gadget 电脑 键盘 鼠标 屏幕 硬件 设备
internet web website online browser wifi network social media facebook instagram twitter post 上网 网站 网络 网页 社交 微信
code coding program programming developer software engineer function class module refactor implement library script 代码 编程 程序 软件 开发 重构 函数 模块
bug error crash exception fail failure fix debug stacktrace broken issue problem defect regression 报错 错误 崩溃 修复 调试 异常 缺陷 故障
testing test tests unit spec vitest jest pytest mock coverage assertion fixture suite flaky e2e ci 测试 单测 用例 断言 覆盖
packages package dependency dependencies install npm pnpm yarn bun pip poetry cargo lockfile version upgrade library 依赖 安装 升级 版本 包管
vcs git commit branch merge rebase pull push pr review diff repository github gitlab conflict 提交 分支 合并 代码 仓库 评审
deploy deployment release ship production prod staging rollout rollback pipeline ci cd publish hosting 部署 发布 上线 回滚 生产 流水
containers docker container kubernetes k8s helm pod image cluster compose 容器 集群 镜像
cloud aws azure gcp lambda s3 serverless terraform infrastructure server host instance 服务 云端 主机
database db sql postgres postgresql mysql sqlite mongo redis query table schema migration index transaction orm 数据 查询 迁移 索引 事务 表结
api endpoint rest graphql http request response route controller client server webhook rpc grpc 接口 请求 响应 路由
frontend ui ux css html react vue svelte angular component page layout button style tailwind browser design 前端 界面 页面 组件 样式 设计
backend server node express django flask spring rails service handler middleware 后端 服务 中间
typing typescript types type interface generic strict any lint linter eslint format formatter prettier style indent tab space semicolon quote 类型 格式 规范 缩进 风格
security secret token password credential key auth authentication login oauth permission encrypt vulnerability session cookie 安全 密码 密钥 登录 认证 权限 加密
performance slow fast latency speed optimize optimization cache memory benchmark profile throughput timeout bottleneck 性能 优化 缓存 速度 延迟 超时 内存
logging log logs monitor metric metrics trace alert dashboard grafana prometheus sentry observability incident oncall outage 日志 监控 告警 指标 面板 事故 故障
config configuration setting settings env environment variable flag option yaml json toml 配置 环境 变量 设置 选项
build compile bundle bundler webpack vite esbuild make cmake makefile toolchain 编译 构建 打包
docs documentation readme comment document manual guide wiki explain explanation 文档 注释 说明 手册 解释
shell terminal command bash zsh script cli run 命令 终端 脚本
issues ticket jira linear issue board sprint backlog task todo kanban roadmap milestone 任务 工单 迭代 看板 里程 待办
ml model training ai llm neural dataset inference prompt embedding gpu machine 模型 训练 人工 智能 推理
answerstyle answer reply response concise brief short terse verbose detail detailed explain summary tone 回答 回复 简洁 简短 详细 语气 总结
legal law lawyer contract compliance license regulation policy gdpr privacy court 法律 律师 合同 合规 隐私 政策
freeze date deadline release cut launch due schedule delay postpone late 截止 延期 推迟 日期
`
